import pickle
import threading
from collections import OrderedDict

import pytest

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.guard import no_unpickling

CONTENT = pickle.dumps(OrderedDict(a=1))


def test_pickles_cannot_look_anything_up_in_the_block() -> None:
    with no_unpickling(), pytest.raises(ModelFileError, match=r"collections\.OrderedDict"):
        pickle.loads(CONTENT)

    assert pickle.loads(CONTENT) == {"a": 1}


def test_the_block_ends_with_an_error_too() -> None:
    with pytest.raises(KeyError), no_unpickling():
        raise KeyError

    assert pickle.loads(CONTENT) == {"a": 1}


def test_other_threads_go_on() -> None:
    found = []
    with no_unpickling():
        thread = threading.Thread(target=lambda: found.append(pickle.loads(CONTENT)))
        thread.start()
        thread.join()

    assert found == [{"a": 1}]
