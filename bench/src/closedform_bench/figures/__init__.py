"""Every figure that the docs state: which command measures it, what it gave, and the table on its
page.
"""
