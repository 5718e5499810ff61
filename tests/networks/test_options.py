from typing import Any

import pytest

from closedform.basics.keywords import KeywordError
from closedform.networks.options import OptionKeywords, Options


def made(keywords: dict[str, Any]) -> Options:
    return Options(**keywords)


def test_keywords_and_fields_are_the_same() -> None:
    assert set(OptionKeywords.__annotations__) == set(Options.__dataclass_fields__)


def test_a_misspelt_option_gets_a_suggestion() -> None:
    with pytest.raises(KeywordError, match=r"no keyword 'transfrom'; did you mean 'transform'"):
        made({"transfrom": None})
    with pytest.raises(KeywordError, match=r"no keyword 'zzz'\. It has batch_size, "):
        made({"zzz": None})
    with pytest.raises(KeywordError, match=r"is not one of auto, double, native; did you mean "):
        made({"precision": "duoble"})


@pytest.mark.parametrize("keywords", [{"batch_size": 0}, {"precision": "half"}, {"kind": "keras"}])
def test_values_out_of_range_are_refused(keywords: dict[str, Any]) -> None:
    with pytest.raises(KeywordError, match=next(iter(keywords))):
        made(keywords)
