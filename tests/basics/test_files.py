import os
import stat

import pytest

from closedform.basics.files import check_folder, check_output, replacing, write_bytes, write_text
from closedform.errors import ClosedformError, SaveError


def names(folder):
    return sorted(os.listdir(folder))


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        write_text(tmp_path / "a", "text")
        os.umask(0o027)
        write_text(tmp_path / "b", "text")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a"), mode(tmp_path / "b")) == (0o644, 0o640)


def test_a_replaced_file_keeps_its_mode(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"
    assert mode(tmp_path / "a") == 0o600


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"
    assert names(tmp_path / "there") == ["file"]


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    write_text(tmp_path / "a", "old")

    def interrupted():
        with replacing(tmp_path / "a") as file:
            file.write(b"half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_text_is_written_as_it_is(tmp_path):
    write_text(tmp_path / "a", "ü\n\r\n")
    assert (tmp_path / "a").read_bytes() == "ü\n\r\n".encode()


def test_a_name_as_long_as_the_system_allows(tmp_path):
    name = "n" * 255
    write_bytes(tmp_path / name, b"content")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize(
    "check", [check_output, lambda path: write_bytes(path, b"")], ids=["check", "write"]
)
@pytest.mark.parametrize(
    ("name", "said"), [("none/a", "no folder"), ("file/a", "no folder"), (".", "it is a folder")]
)
def test_what_cannot_be_written_is_told(check, name, said, tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(SaveError, match=said):
        check(tmp_path / name)
    assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_name_that_is_too_long_is_told(tmp_path):
    with pytest.raises(SaveError, match="File name too long"):
        write_bytes(tmp_path / ("n" * 300), b"")
    assert names(tmp_path) == []


def test_the_error_is_of_both_families():
    assert issubclass(SaveError, OSError)
    assert issubclass(SaveError, ClosedformError)


def test_checks_leave_nothing_behind(tmp_path):
    check_output(tmp_path / "a.json", [".json"])
    check_output(tmp_path / "A.JSON", [".json"])
    check_folder(tmp_path)
    check_folder(tmp_path / "new" / "deep")
    assert names(tmp_path) == []
    with pytest.raises(SaveError, match=r"must end in \.html or \.htm"):
        check_output(tmp_path / "a.json", [".html", ".htm"])


def test_a_folder_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below/it"):
        with pytest.raises(SaveError, match="is a file"):
            check_folder(tmp_path / place)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_told(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(SaveError, match="Permission denied"):
            check_output(tmp_path / "a")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("path", [3, None, True, 1.5, b"x", "a\0b", "\ud800.json", ""])
def test_what_is_not_a_path_is_told_and_nothing_is_written(path):
    """A number was taken for a descriptor."""
    with pytest.raises(SaveError, match="cannot be written"):
        write_text(path, "text")
    with pytest.raises(SaveError, match="cannot be written"):
        check_output(path)
