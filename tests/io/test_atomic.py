"""A file is whole or absent, and every failure to write is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from continua.errors import OutputError
from continua.io.atomic import atomic_file, atomic_path, make_folder, write_bytes

SOURCE = Path(sys.modules["continua.io.atomic"].__file__ or "").parents[2]


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that can import Continua."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, timeout=60
    )


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    write_bytes(path, b"old")
    with atomic_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["data.bin"]


def test_an_error_in_between_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    write_bytes(path, b"old")
    with pytest.raises(RuntimeError), atomic_file(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["data.bin"]


def test_the_temporary_path_keeps_the_suffix_and_the_folder(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a.mp4") as temporary:
        assert temporary.suffix == ".mp4"
        assert temporary.parent == tmp_path
        temporary.write_bytes(b"film")
    assert (tmp_path / "a.mp4").read_bytes() == b"film"


def test_a_missing_folder_is_one_sentence_that_names_the_path(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "data.bin"
    with pytest.raises(OutputError, match="does not exist; create it") as caught:
        write_bytes(path, b"data")
    assert str(path) in str(caught.value)


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="not a folder"):
        write_bytes(tmp_path / "file" / "data.bin", b"data")
    with pytest.raises(OutputError, match=r"in the way|not a folder"):
        make_folder(tmp_path / "file")


FULL = """
import os, resource, sys
from continua.errors import OutputError
from continua.io.atomic import write_bytes
folder = sys.argv[1]
write_bytes(folder + "/small", b"x" * 1000)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_bytes(folder + "/small", b"x" * 1_000_000)
except OutputError as error:
    print(error)
print(sorted(os.listdir(folder)), os.path.getsize(folder + "/small"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_write_that_does_not_fit_keeps_the_old_file_and_cleans_up(tmp_path: Path) -> None:
    result = run_python(FULL, str(tmp_path))
    assert "size limit" in result.stdout, result.stderr
    assert "['small'] 1000" in result.stdout


def test_a_full_disk_is_named_as_such(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with (
        pytest.raises(OutputError, match="disk is full; free"),
        atomic_path(tmp_path / "a") as path,
    ):
        assert not path.exists()
        with open("/dev/full", "wb", buffering=0) as full:
            full.write(b"data")


READ_ONLY = """
import os, sys
from continua.errors import OutputError
from continua.io.atomic import write_bytes, make_folder
from continua.io.folder import Recorder
if os.getuid() == 0:  # root may write anywhere
    os.setgid(65534)
    os.setuid(65534)
for action in (
    lambda: write_bytes(sys.argv[1] + "/data", b"x"),
    lambda: make_folder(sys.argv[1] + "/new"),
    lambda: Recorder(sys.argv[1], description={}),
):
    try:
        action()
        print("written")
    except OutputError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
def test_a_read_only_folder_is_refused_politely() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        result = run_python(READ_ONLY, folder)
        os.chmod(folder, 0o755)
        assert os.listdir(folder) == []
    assert result.stdout.count("permission is denied; choose a folder you may write to") == 3, result
