"""Pictures and the report page, made of plain data."""
