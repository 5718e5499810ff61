"""The site: the same bytes for the same store, links that lead somewhere, nothing from outside."""

import json
import re
from pathlib import Path
from shutil import which

import numpy as np
import pandas
import pytest
from playwright.sync_api import ViewportSize, sync_playwright

import closedform as cf
from closedform.sweeping.atlas.census import Identity, add_network
from closedform.sweeping.atlas.concept_index import Concept, entry_of, shards
from closedform.sweeping.atlas.probe_points import profiles
from closedform.sweeping.atlas.records import Atlas, NetworkCard
from closedform.sweeping.atlas.site import SiteContent, build_site, write_records
from closedform.sweeping.execution.store import ResultStore

POINTS = np.random.default_rng(0).uniform(0.5, 2, (300, 2))


def network(x: np.ndarray) -> np.ndarray:
    return np.stack([np.exp(x[:, 0] * x[:, 1] ** 2), x[:, 1] + 3 * x[:, 0], 0 * x[:, 0]], axis=1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ResultStore:
    kept = ResultStore(tmp_path_factory.mktemp("atlas") / "store")
    identity = Identity("<b>toy</b>", "1", "MIT", "a test", {"m": "kg"})
    add_network(
        network, POINTS, store=kept, identity=identity, names=["m", "v"], layers=["output"],
        effort=cf.Effort(terms=300, evaluations=0), kind="function",
    )  # fmt: skip
    return kept


@pytest.fixture(scope="module")
def site(store: ResultStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    assert build_site(store, place) == {"networks": 1, "concepts": 2, "laws": 2}
    return place


def _contents(place: Path) -> dict[str, bytes]:
    return {str(f.relative_to(place)): f.read_bytes() for f in place.rglob("*") if f.is_file()}


def test_a_second_build_is_the_same_byte_for_byte(
    store: ResultStore, site: Path, tmp_path: Path
) -> None:
    build_site(ResultStore(store.path), tmp_path / "again")
    assert _contents(tmp_path / "again") == _contents(site)


def test_every_link_leads_to_a_page(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) == 6
    for page in pages:
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
            if not link.startswith("data:"):
                assert (page.parent / link).is_file(), (page, link)


def test_nothing_is_loaded_from_outside(site: Path) -> None:
    for name, content in _contents(site).items():
        if name.endswith((".html", ".css", ".js")):
            assert b"http://" not in content.replace(b"http://www.w3.org", b"")
            assert b"https://" not in content
            assert b"@import" not in content
    assert "default-src 'none'" in (site / "index.html").read_text(encoding="utf-8")


def test_pages_show_verdict_evidence_and_pictures(site: Path) -> None:
    texts = [page.read_text(encoding="utf-8") for page in (site / "concepts").glob("*.html")]
    text = next(text for text in texts if "m*v**2" in text)
    assert "verified" in text
    assert text.count("<svg") == 3
    assert "different usable points" in text
    page = next((site / "networks").glob("*.html")).read_text(encoding="utf-8")
    assert "the neuron is dead" in page
    assert "&lt;b&gt;toy" in page
    assert "<b>toy" not in page


def test_two_keys_of_one_concept_lead_to_one_page(tmp_path: Path) -> None:
    kept = ResultStore(tmp_path / "store")
    NetworkCard(
        "waves", "1", "MIT", "a test", "network", "inputs", ("x", "y"), ((0.0, 1.0),) * 2, 300,
        ("output",), 0, {},
    ).save(kept.folder)  # fmt: skip
    texts = ("y*sin(x)**2", "y - y*cos(2*x)")
    names = [entry_of(text).concept.id for text in texts]
    for unit, text in enumerate(texts):
        record = {"neuron": f"output:{unit}", "verdict": "verified", "concept": text}
        origin = {"network": "network", "data": "inputs", "digest": str(unit)}
        kept.put(f"key{unit}", record | origin)
    assert build_site(kept, tmp_path / "site") == {"networks": 1, "concepts": 1, "laws": 1}
    assert len(set(names)) == 2
    pages = [tmp_path / "site" / "concepts" / f"{name}.html" for name in names]
    shown, alias = sorted((page.read_text(encoding="utf-8") for page in pages), key=len)[::-1]
    assert "output:0" in shown
    assert "output:1" in shown
    assert f'url={names[0]}.html"' in alias or f'url={names[1]}.html"' in alias


def test_the_table_has_every_neuron(site: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.read_parquet(site / "atlas.parquet")
    assert table["neuron"].tolist() == ["output:0", "output:1", "output:2"]
    assert table["verdict"].tolist()[2] == "none"
    assert table["concept_id"].notna().tolist() == [True, True, False]


def test_a_table_that_is_made_in_pieces_is_the_same(
    store: ResultStore, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("closedform.sweeping.atlas.site.ROWS_PER_PART", 1)
    write_records(SiteContent(Atlas(store)), tmp_path)
    pieces, whole = (pandas.read_parquet(place / "atlas.parquet") for place in (tmp_path, site))
    pandas.testing.assert_frame_equal(pieces, whole)


def test_an_atlas_keeps_of_its_records_what_pages_tell(store: ResultStore) -> None:
    whole = {row["digest"]: row for _, row in store.records()}
    kept = list(Atlas(store).records())
    assert len(kept) == 3
    for record in kept:
        row = whole[record.content["digest"]]
        assert "front" in row or not record.concept
        assert "front" not in record.content
        assert ("field" in record.content) == bool(record.concept)
        assert list(record.content.get("reasons", ())) == row.get("reasons", [])
    seen = {id(record.content["network"]) for record in kept}
    assert len(seen) == 1


def test_a_browser_without_a_network_finds_a_formula(site: Path) -> None:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=flags)
        for width in (1280, 390):
            size: ViewportSize = {"width": width, "height": 900}
            page = browser.new_context(offline=True, viewport=size).new_page()
            page.on("request", lambda request: said.append(request.url))
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            for file in sorted(site.rglob("*.html")):
                page.goto(file.as_uri())
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (file, width)
            page.goto((site / "index.html").as_uri())
            page.fill("#formula", "log(b) + 2*log(c)")
            page.click("button")
            page.wait_for_selector(".found")
            assert page.inner_text("#answer").startswith("The same concept\nm*v**2")
        browser.close()
    assert all(each.startswith(("file:", "data:")) for each in said), said


def test_shards_are_cut_by_inputs_and_place() -> None:
    vectors = [profiles(cf.parse(text))[0].vector for text in ("x*y", "x + 9*y", "x*y/z")]
    many = [(Concept(f"id{n}", "", "x", "", vectors[n % 3]), "verified", 1) for n in range(1600)]
    made = dict(shards(many))
    table = json.loads(made["shards.js"].partition("=")[2].rstrip(";\n"))
    assert [(row["inputs"], row["name"]) for row in table] == [
        (2, "2-0"), (2, "2-1"), (2, "2-2"), (3, "3-0"), (3, "3-1"),
    ]  # fmt: skip
    assert all(row["low"] <= row["high"] for row in table)
    rows = json.loads(made["2-0.js"].partition(",")[2].rstrip(");\n"))
    assert len(rows) == 500
    assert np.allclose(
        np.array(rows[0]["vector"]) / 1e5, min(vectors[:2], key=lambda v: v[0]), atol=1e-5
    )
