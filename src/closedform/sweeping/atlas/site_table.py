"""All records of a site in one table, for DuckDB or pandas."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from closedform.basics.files import write_bytes
from closedform.basics.optional import require
from closedform.sweeping.atlas.site_content import SiteContent

_OWN = ("complexity", "misalignment", "floor", "evaluations", "seed", "status", "same_as", "digest")
"""Entries of records that become columns as they are."""


def table_file() -> str:
    """Parquet where pyarrow is installed, else CSV."""
    return "atlas.parquet" if find_spec("pyarrow") is not None else "atlas.csv"


def write_records(content: SiteContent, place: Path) -> None:
    """Write the table."""
    rows = [_row(content, record) for record in content.records]
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
    if table_file().endswith(".csv"):
        import pandas

        write_bytes(place / table_file(), pandas.DataFrame(columns).to_csv(index=False).encode())
        return
    arrow = require("pyarrow", extra="cluster")
    buffer = arrow.BufferOutputStream()
    require("pyarrow.parquet", extra="cluster").write_table(
        arrow.table(columns), buffer, compression="zstd"
    )
    write_bytes(place / table_file(), buffer.getvalue().to_pybytes())


def _row(content: SiteContent, record: Any) -> dict[str, Any]:
    name = content.concept_of(record)
    concept = content.concept(name) if name else None
    return {
        "network": record.card.name, "version": record.card.version,
        "licence": record.card.licence, "source": record.card.source,
        "network_id": record.card.id, "network_digest": record.card.network,
        "data_digest": record.card.data, "layer": record.layer, "neuron": record.neuron,
        "verdict": record.verdict, "formula": record.content.get("concept"),
        "concept_id": name or None, "concept": concept.form if concept else None,
        "law_id": concept.law_id if concept else None, "law": concept.law if concept else None,
        "reason": record.reason, **{each: record.content.get(each) for each in _OWN},
    }  # fmt: skip
