"""Print the table of operators.md: ``python docs/operator_table.py``."""

from closedform.expressions.operators import OPERATORS


def operator_table() -> str:
    """The operators as a Markdown table."""
    rows = [
        "| operator | written | derivative | domain | complexity | pyoperon |",
        "|---|---|---|---|---|---|",
    ]
    for o in OPERATORS.values():
        written = (
            f"{o.name}({o.operands})"
            if o.symbol is None
            else (f"{o.symbol}a" if o.arity == 1 else f"a {o.symbol} b")
        )
        slopes = "; ".join(map(str, o.slope_forms))
        domain = "everywhere" if o.domain == "True" else o.domain
        cells = [
            o.name,
            f"`{written}`",
            f"`{slopes}`",
            f"`{domain}`".replace("|", "\\|"),
            str(o.cost),
            o.operon or "-",
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(operator_table())
