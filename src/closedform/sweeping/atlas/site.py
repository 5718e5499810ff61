"""The site: pages for networks, concepts and laws, and a search, as files that need no server;
and all records in one table, for DuckDB or pandas.

The same store gives the same bytes: nothing here knows the time or the order of files.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from closedform import __version__
from closedform.basics.files import check_folder, write_bytes, write_text
from closedform.basics.optional import require
from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Directions
from closedform.interpretation.verdict import STATUSES
from closedform.judge.regions import angles_in_degrees
from closedform.report.figure_numbers import shown_range
from closedform.report.figures import LOOKS
from closedform.report.html import formula, page_environment, style_sheet
from closedform.report.svg import Frame, angles_svg, directions_svg, dots
from closedform.sweeping.atlas.concept_index import Concept, shards
from closedform.sweeping.atlas.finding import compare_formulas, described
from closedform.sweeping.atlas.probe_points import SPANS
from closedform.sweeping.atlas.records import ARCHITECTURE, Atlas, AtlasRecord, NetworkCard
from closedform.sweeping.execution.store import ROWS_PER_PART, ResultStore
from closedform.sweeping.neuron_task import load_neuron

ALIKE = 0.02
"""Distance of fingerprints within which concepts with different keys are compared."""

MOST_ALIKE = 10
"""Neighbours with which a concept is compared: what is the same is nearest."""

_ORDER = (*STATUSES[:-1], ARCHITECTURE, STATUSES[-1], "failed")


@dataclass(eq=False)
class Gathered:
    """Records of one concept, or of one law."""

    id: str
    records: list[AtlasRecord] = field(default_factory=list)

    @cached_property
    def networks(self) -> int:
        """In how many networks it is."""
        return len({record.card.id for record in self.records})

    @cached_property
    def best(self) -> AtlasRecord:
        """The record with the best verdict, then the smallest angle."""
        return min(self.records, key=lambda each: (_ORDER.index(each.verdict), *_angle(each)))

    @property
    def is_learned(self) -> bool:
        """Whether a network shows it that would not without training."""
        return any(not record.is_architecture for record in self.records)


class SiteContent:
    """Everything that pages need, in an order that depends on the store's content alone."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self.records = list(atlas.records())
        self.cards: list[NetworkCard] = atlas.cards
        shown = {record.concept for record in self.records if record.concept}
        self.aliases = _aliases([atlas.book.concepts[name] for name in sorted(shown)])
        self.concepts: dict[str, Gathered] = {}
        self.laws: dict[str, Gathered] = {}
        self._of_law: dict[str, dict[str, Gathered]] = {}
        self.of_network: dict[str, list[AtlasRecord]] = {card.id: [] for card in atlas.cards}
        for record in self.records:
            self.of_network[record.card.id].append(record)
            if record.concept:
                name = self.aliases.get(record.concept, record.concept)
                law = atlas.book.concepts[name].law_id
                concept = self.concepts.setdefault(name, Gathered(name))
                for each in (concept, self.laws.setdefault(law, Gathered(law))):
                    each.records.append(record)
                self._of_law.setdefault(law, {})[name] = concept

    def concept(self, name: str) -> Concept:
        """A concept by name."""
        return self.atlas.book.concepts[name]

    def concept_of(self, record: AtlasRecord) -> str:
        """The name of the page of a record's concept; empty without one."""
        return self.aliases.get(record.concept, record.concept)

    def concepts_of_law(self, law: str) -> list[Gathered]:
        """Its concepts, those in most networks first."""
        found = self._of_law[law].values()
        return sorted(found, key=lambda each: (-each.networks, -len(each.records), each.id))

    def verdicts(self, card: NetworkCard) -> list[tuple[str, int]]:
        """How many neurons of a network have each verdict."""
        counts = Counter(each.verdict for each in self.of_network[card.id])
        return [(verdict, counts[verdict]) for verdict in _ORDER if counts[verdict]]


def degrees(record: AtlasRecord) -> float | None:
    """The angle between formula and network."""
    misalignment = record.content.get("misalignment")
    if not isinstance(misalignment, int | float) or not record.concept:
        return None
    return float(angles_in_degrees(np.array(misalignment)))


def _angle(record: AtlasRecord) -> tuple[float, str, str]:
    angle = degrees(record)
    return (360.0 if angle is None else angle), record.card.id, record.neuron


def _aliases(concepts: list[Concept]) -> dict[str, str]:
    """Concepts with different keys that are the same: each with the name of the plainest."""
    ordered = sorted(concepts, key=lambda each: (len(each.vector), len(each.form), each.id))
    found: dict[str, str] = {}
    for _, group in groupby(ordered, key=lambda each: len(each.vector)):
        alike = list(group)
        vectors = np.array([each.vector for each in alike])
        # A tree within a small reach: comparing all with all would take hours for 10^5.
        near: Any = KDTree(vectors).query(vectors, k=MOST_ALIKE, distance_upper_bound=ALIKE)[1]
        for number, others in enumerate(near.tolist()):
            for other in others:
                if other < number and _is_same(alike[number].form, alike[other].form):
                    name: str = alike[other].id
                    found[alike[number].id] = found.get(name, name)
                    break
    return found


def _is_same(one: str, other: str) -> bool:
    for span in range(len(SPANS)):
        (first, own), (second, beside) = (described(text, span) for text in (one, other))
        if own is not None and beside is not None:
            compared = compare_formulas(first, second, (own, beside))
            return compared is not None and compared.is_exact
    return False


MOST_POINTS = 300
"""Points of a scatter plot: more would hide each other."""


def field_pictures(store: ResultStore, row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Captions and pictures of a record's field; none where its field was not kept."""
    if "field" not in row or not isinstance(row.get("concept"), str):
        return []
    try:
        field = load_neuron([store.path, store.options], row["neuron"], row["field"])
        concept = parse(row["concept"], names=list(field.names))
    except ClosedformError:  # the fields of a sweep may be dropped
        return []
    angles = angles_in_degrees(field_misalignment(concept, field)[field.weights > 0])
    made = [
        ("Directions of the network under those of the formula", _directions(field, concept)),
        ("The neuron against the formula", _values(field, concept)),
        ("Angles between formula and network", angles_svg(angles[np.isfinite(angles)].tolist())),
    ]
    return [(caption, picture) for caption, picture in made if picture is not None]


def _directions(field: GradientField, concept: Expression) -> str | None:
    if len(field.names) != 2:
        return None
    usable = field.weights > 0
    points = field.points[usable]
    vectors = (points, field.directions[usable, :, 0], concept.gradient(points))
    pairs = [tuple((float(x), float(y)) for x, y in array) for array in vectors]
    return directions_svg(Directions(*pairs), field.names)


def _values(field: GradientField, concept: Expression) -> str | None:
    if field.latents is None:
        return None
    with np.errstate(all="ignore"):
        x, y = concept(field.points), field.latents[:, 0]
    good = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(good) < 2 or not np.ptp(x[good]) or not np.ptp(y[good]):
        return None
    few = good[:: max(len(good) // MOST_POINTS, 1)]
    frame = Frame(shown_range(x[good]), shown_range(y[good]))
    shapes = [f'<path class="dots" d="{dots(frame, x[few], y[few])}"/>']
    return frame.picture("The neuron against the formula", "formula", "neuron", shapes)


MOST_LAWS = 200
"""Laws on the first page; the search finds the others."""

FUNCTIONS = (
    "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asin", "acos",
    "abs", "min", "max",
)  # fmt: skip
"""That the search in the browser knows, as its page says."""

Progress = Callable[[str, int, int], None]
"""Told what is written, how many pages are done, and of how many."""


def build_site(
    store: str | Path | ResultStore, out: str | Path, *, progress: Progress | None = None
) -> dict[str, int]:
    """Write the site of a store into a folder, which is made; how many pages of each kind.

    Files of an earlier build are replaced; those of concepts that are gone stay, since links last.
    """
    kept = store if isinstance(store, ResultStore) else ResultStore(store)
    place = Path(out)
    check_folder(place)
    content = SiteContent(Atlas(kept))
    pages = _Pages(content, place)
    for folder in ("assets", "search", "networks", "concepts", "laws"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    write_text(place / "assets/atlas.css", f"{style_sheet()}\n{_looks()}\n{_asset('atlas.css')}\n")
    write_text(place / "assets/atlas.js", f"{_asset('atlas.js')}\n")
    for name, text in shards(pages.searchable()):
        write_text(place / "search" / name, text)
    write_records(content, place)
    jobs: list[tuple[str, list[Any], Callable[[Any], None]]] = [
        ("networks", content.cards, pages.network),
        ("concepts", [content.concepts[name] for name in sorted(content.concepts)], pages.concept),
        ("laws", [content.laws[name] for name in sorted(content.laws)], pages.law),
    ]
    total, done = sum(len(items) for _, items, _ in jobs), 0
    for kind, items, write in jobs:
        for item in items:
            write(item)
            done += 1
            if progress is not None:
                progress(kind, done, total)
    for alias, name in sorted(content.aliases.items()):
        pages.alias(alias, name)
    pages.first()
    return {kind: len(items) for kind, items, _ in jobs}


class _Pages:
    """Writes the pages of a site."""

    def __init__(self, content: SiteContent, place: Path) -> None:
        self._content, self._place = content, place
        self._environment = page_environment()

    def searchable(self) -> Iterator[tuple[Concept, str, int]]:
        """All concepts as the search shows them, with verdicts and numbers of networks."""
        for name, gathered in sorted(self._content.concepts.items()):
            yield self._content.concept(name), gathered.best.verdict, gathered.networks

    def first(self) -> None:
        """The first page."""
        content = self._content
        records = content.records
        networks = [
            {
                "card": card,
                "neurons": len(own := content.of_network[card.id]),
                "read": sum(bool(each.concept) and not each.is_architecture for each in own),
                "concepts": len({content.concept_of(each) for each in own if each.concept}),
            }
            for card in content.cards
        ]
        learned = [each for each in content.laws.values() if each.is_learned]
        learned.sort(key=lambda each: (-each.networks, -len(each.records), each.id))
        laws = [self._law_row(each) for each in learned[:MOST_LAWS]]
        verified = sum(each.verdict == "verified" for each in records)
        counts = [("networks", len(content.cards)), ("neurons", len(records))]
        counts += [("verified formulas", verified), ("concepts", len(content.concepts))]
        self._write(
            "index.html", "index", root="", counts=counts, networks=networks, laws=laws,
            more_laws=max(len(learned) - MOST_LAWS, 0), functions=FUNCTIONS,
        )  # fmt: skip

    def network(self, card: Any) -> None:
        """The page of a network."""
        rows = [self._neuron(each) for each in self._content.of_network[card.id]]
        ends = zip(card.names, card.ranges, strict=True)
        inputs = [(name, low, high, card.units.get(name, "")) for name, (low, high) in ends]
        self._write(
            f"networks/{card.id}.html", "network", card=card, rows=rows, inputs=inputs,
            verdicts=self._content.verdicts(card),
        )  # fmt: skip

    def concept(self, gathered: Gathered) -> None:
        """The page of a concept."""
        concept, best = self._content.concept(gathered.id), gathered.best
        markup = require("markupsafe", extra="report").Markup
        pictures = field_pictures(self._content.atlas.store, best.content)
        reasons = best.content.get("reasons") or [best.content.get("reason")]
        self._write(
            f"concepts/{gathered.id}.html", "concept", id=gathered.id, text=concept.form,
            typeset=_typeset(concept.form), verdict=best.verdict,
            law_id=concept.law_id, best=self._neuron(best),
            of_law=len(self._content.concepts_of_law(concept.law_id)),
            rows=[self._neuron(each) for each in gathered.records],
            reason=[str(each) for each in reasons if each],
            pictures=[(caption, markup(picture)) for caption, picture in pictures],
        )  # fmt: skip

    def law(self, gathered: Gathered) -> None:
        """The page of a law."""
        concepts = self._content.concepts_of_law(gathered.id)
        first = self._content.concept(concepts[0].id)
        rows = [self._counted(each, each.id, verdict=each.best.verdict) for each in concepts]
        self._write(
            f"laws/{gathered.id}.html", "law", id=gathered.id, text=first.form, rows=rows,
            example=_typeset(first.form),
        )  # fmt: skip

    def alias(self, alias: str, name: str) -> None:
        """A page that leads to another one."""
        text = f'<!doctype html><meta charset="utf-8"><title>{name}</title>'
        text += f'<meta http-equiv="refresh" content="0; url={name}.html"><a href="{name}.html">'
        write_text(self._place / "concepts" / f"{alias}.html", f"{text}{name}</a>\n")

    def _neuron(self, record: AtlasRecord) -> dict[str, Any]:
        text = record.content.get("concept")
        shown = _typeset(text) if isinstance(text, str) and record.concept else ""
        return {
            "neuron": record.neuron, "verdict": record.verdict, "shown": shown,
            "link": self._content.concept_of(record), "degrees": degrees(record),
            "reason": record.reason, "same_as": record.content.get("same_as") or "",
            "network": record.card.name, "network_id": record.card.id,
        }  # fmt: skip

    def _law_row(self, gathered: Gathered) -> dict[str, Any]:
        concepts = self._content.concepts_of_law(gathered.id)
        return self._counted(gathered, concepts[0].id, concepts=len(concepts))

    def _counted(self, gathered: Gathered, concept: str, **more: Any) -> dict[str, Any]:
        """Where a concept, or a law, is found, with the formula of one concept."""
        shown, neurons = _typeset(self._content.concept(concept).form), len(gathered.records)
        told = {"id": gathered.id, "shown": shown, "networks": gathered.networks}
        return told | {"neurons": neurons, **more}

    def _write(self, name: str, template: str, *, root: str = "../", **values: Any) -> None:
        page = self._environment.get_template(f"atlas/{template}.html.j2").render(
            root=root, version=__version__, table_file=table_file(), **values
        )
        write_bytes(self._place / name, page.encode())


@lru_cache(maxsize=2**16)
def _typeset(text: str) -> Any:
    """A formula, once for the pages of its network, its concept and its law."""
    return formula(parse(text))


def _asset(name: str) -> str:
    place = files("closedform.report") / "templates" / "atlas" / name
    return place.read_text(encoding="utf-8").strip()


def _looks() -> str:
    """The colours of verdicts."""
    dark = "@media (prefers-color-scheme: dark) {{ {} }}"
    rules = []
    for status, look in LOOKS.items():
        for colours, rule in ((look.light, "{}"), (look.dark, dark)):
            names = zip(("accent", "accent-fill", "accent-soft"), colours, strict=True)
            body = "; ".join(f"--{name}: {colour}" for name, colour in names)
            rules.append(rule.format(f".{status} {{ {body}; }}"))
    return "\n".join(rules)


_OWN = ("complexity", "misalignment", "floor", "evaluations", "seed", "status", "same_as", "digest")
"""Entries of records that become columns as they are."""


def table_file() -> str:
    """Parquet where pyarrow is installed, else CSV."""
    return "atlas.parquet" if find_spec("pyarrow") is not None else "atlas.csv"


def write_records(content: SiteContent, place: Path) -> None:
    """Write the table."""
    if table_file().endswith(".csv"):
        import pandas

        table = pandas.DataFrame([_row(content, record) for record in content.records])
        write_bytes(place / table_file(), table.to_csv(index=False).encode())
        return
    arrow = require("pyarrow", extra="cluster")
    # Rows as Python objects take ten times what a table of them takes.
    tables = [
        arrow.Table.from_pylist(
            [_row(content, each) for each in content.records[start : start + ROWS_PER_PART]]
        )
        for start in range(0, len(content.records), ROWS_PER_PART)
    ]
    whole = arrow.concat_tables(tables, promote_options="permissive") if tables else arrow.table({})
    buffer = arrow.BufferOutputStream()
    require("pyarrow.parquet", extra="cluster").write_table(whole, buffer, compression="zstd")
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
