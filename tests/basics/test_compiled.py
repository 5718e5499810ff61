from pathlib import Path

import closedform
from closedform.basics.compiled import HOT_FILES

PACKAGE = Path(closedform.__file__).parent


def test_every_file_with_compiled_code_is_in_the_fingerprint():
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "closedform.basics.compiled" in path.read_text()
    }
    assert users <= set(HOT_FILES)
    assert all((PACKAGE / name).is_file() for name in HOT_FILES)
