"""The answer: the concept, its verdict and the evidence, as plain data.

Nothing is computed here. `answer` is what `interpret` returns, with its file, `answer_data` its
fields, `answer_text` what it prints, `evidence` and `verdict` what it rests on. Pictures and pages
come from the room of reports, which fills the table in `answer`.
"""
