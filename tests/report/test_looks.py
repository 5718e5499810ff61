from importlib.resources import files

from closedform.interpretation.verdict import STATUSES, CheckResult
from closedform.report.figures import CHECK_MARKS, LOOKS


def test_every_status_and_every_outcome_has_a_look():
    assert tuple(LOOKS) == STATUSES
    outcomes: tuple[bool | None, ...] = (True, False, None)
    assert set(CHECK_MARKS) == {CheckResult(passed, "").word for passed in outcomes}
    assert len(set(CHECK_MARKS.values())) == 3


def test_words_and_colours_stand_once():
    """There were three copies."""
    room = files("closedform.report")
    found = [file for folder in (room, room / "templates") for file in folder.iterdir()]
    texts = [file.read_text(encoding="utf-8") for file in found if file.is_file()]
    for look in LOOKS.values():
        assert sum(f'"{look.word}"' in text for text in texts) == 1
        assert sum(look.light[2] in text for text in texts) == 1
