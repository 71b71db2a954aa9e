"""Files that commands write: each whole or not at all, and none that somebody else has made is replaced."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tailback.errors import mistake, unwritten
from tailback.words import named


def folder(path: object) -> Path:
    """The path of a folder; raises `InputError` if it is none."""
    if not isinstance(path, str | os.PathLike) or not str(path):
        told = named(path) if path != "" else "an empty text"
        raise mistake(f"the path of a folder is expected, not {told}", 'such as "results/hot"')
    return Path(path)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A new file to write, of the same name; at the end it takes the place of the file, all or nothing.

    A link stays, and what it leads to is replaced. Into a device, or any other such file, it is written.
    """
    written_into = file.exists() and not file.is_file()
    target = file if written_into else Path(os.path.realpath(file))
    if not written_into and target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file))
    with TemporaryDirectory(prefix=".tailback-", dir=None if written_into else target.parent) as holder:
        fresh = Path(holder) / target.name
        yield fresh
        if written_into:
            target.write_bytes(fresh.read_bytes())
        else:
            fresh.replace(target)


def replace_text(file: Path, text: str, *, folders: bool = False) -> None:
    """Writes a text file, all or nothing; with `folders`, makes those that it is to be in."""
    try:
        if file.is_dir():
            raise mistake(f"{file} is a directory", "name a file")
        if folders:
            file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as fresh:
            fresh.write_text(text, "utf-8")
    except (OSError, ValueError) as error:
        raise unwritten(str(file), error, "choose another place") from None


def refuse_other(file: Path, beginning: str, what: str) -> None:
    """Raises `InputError` if the file exists and does not begin so: only an earlier one is replaced."""
    begin = beginning.encode()
    held = b""
    with suppress(OSError, ValueError):  # whoever writes it tells what is wrong
        if file.is_file():
            with file.open("rb") as there:
                held = there.read(len(begin))
    if held and held != begin:
        raise mistake(f"{file} exists and is no {what}", f"choose another place: only a {what} is replaced")
