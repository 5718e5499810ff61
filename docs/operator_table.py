"""Print the table of operators.md: ``python docs/operator_table.py``."""

from closedform.expressions.operators import OPERATORS


def operator_table() -> str:
    """The operators as a Markdown table."""
    rows = ["| operator | written | domain | complexity |", "|---|---|---|---|"]
    for o in OPERATORS.values():
        written = (
            f"{o.name}({o.operands})"
            if o.symbol is None
            else (f"{o.symbol}a" if o.arity == 1 else f"a {o.symbol} b")
        )
        cells = [
            o.name,
            f"`{written}`",
            "everywhere" if o.domain == "True" else f"`{o.domain}`".replace("|", "\\|"),
            str(o.cost),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(operator_table())
