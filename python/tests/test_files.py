"""What is written is whole or not there, goes where a link leads, and replaces nothing of somebody else's."""

import errno
import os
import threading
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import tailback
from tailback import files
from tailback.figures import gallery


def text(file):
    files.replace_text(file, "new")


def picture(file):
    gallery.save_as(Figure(), file)


WRITERS = pytest.mark.parametrize("write", [text, picture])


@WRITERS
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path, write):
    (tmp_path / "below").mkdir()
    target, link = tmp_path / "below" / "old.svg", tmp_path / "link.svg"
    target.write_text("old")
    link.symlink_to("below/old.svg")
    write(link)
    assert link.is_symlink()
    assert target.read_text() != "old"
    assert {path.name for path in tmp_path.rglob("*")} == {"below", "old.svg", "link.svg"}


@WRITERS
def test_a_link_to_nothing_yet_makes_what_it_leads_to(tmp_path, write):
    (tmp_path / "link.svg").symlink_to("new.svg")
    write(tmp_path / "link.svg")
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "new.svg").stat().st_size


@WRITERS
def test_a_link_to_itself_is_a_mistake_and_stays(tmp_path, write):
    (tmp_path / "loop.svg").symlink_to("loop.svg")
    with pytest.raises(tailback.InputError, match="Too many levels of symbolic links"):
        write(tmp_path / "loop.svg")
    assert (tmp_path / "loop.svg").is_symlink()


@pytest.mark.parametrize("kind", [".svg", ".png", ".pdf"])
def test_a_pipe_is_written_into_and_stays(tmp_path, kind):
    pipe, taken = tmp_path / f"pipe{kind}", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()), daemon=True)
    reader.start()
    picture(pipe)
    reader.join(10)
    picture(tmp_path / f"file{kind}")
    assert pipe.is_fifo()
    assert taken == [(tmp_path / f"file{kind}").read_bytes()]


@WRITERS
def test_a_full_disk_leaves_what_was_there_and_nothing_beside_it(tmp_path, monkeypatch, write):
    file = tmp_path / "old.svg"
    file.write_text("old")

    def full(path, *_, **__):
        Path(path).write_bytes(b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(Figure, "savefig", lambda _, *rest, **__: full(*rest))
    with pytest.raises(tailback.NotKept, match="cannot be written: No space left on device"):
        write(file)
    assert [path.name for path in tmp_path.iterdir()] == ["old.svg"]
    assert file.read_text() == "old"


def test_a_foreign_file_that_begins_alike_is_not_overwritten(tmp_path):
    (tmp_path / "x").write_text("VEGETABLES")
    (tmp_path / "link").symlink_to("x")
    for name in ("x", "link"):
        with pytest.raises(tailback.InputError, match="exists and is no"):
            files.refuse_other(tmp_path / name, "VEF ", "VEF trace")
