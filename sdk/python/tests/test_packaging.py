"""What is published: the wheel and the source archive, and what is in them."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from typing import Set

import pytest

import pingpost

PACKAGE = pathlib.Path(__file__).parent.parent
NAME = f"pingpost-{pingpost.__version__}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Both, built of a copy, so that the tree stays as it is."""
    place = tmp_path_factory.mktemp("build")
    ignored = shutil.ignore_patterns(".venv*", "__pycache__", ".*_cache", "dist")
    shutil.copytree(PACKAGE, place / "python", ignore=ignored)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(place / "dist"),
            str(place / "python"),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "dist"


def sources() -> Set[str]:
    src = PACKAGE / "src"
    return {
        p.relative_to(src).as_posix() for p in src.rglob("*") if p.suffix == ".py" or p.name == "py.typed"
    }


def test_the_wheel(built: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        info = f"{NAME}.dist-info"
        about = {f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD", f"{info}/licenses/LICENSE"}
        assert names == sources() | about
        metadata = wheel.read(f"{info}/METADATA").decode()
        wheel.extractall(tmp_path)
    assert "pingpost/py.typed" in names
    assert "pingpost/models/lead.py" in names
    told = metadata.partition("\n\n")[0].splitlines()
    assert f"Version: {pingpost.__version__}" in told
    assert "Requires-Python: >=3.9" in told
    assert [line for line in told if line.startswith("Requires-Dist")] == ["Requires-Dist: httpx<1,>=0.25"]
    assert "License-Expression: Apache-2.0" in told
    shown = subprocess.run(
        [sys.executable, "-c", "import pingpost; print(pingpost.__file__, pingpost.Client)"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert shown.stdout.startswith(str(tmp_path))


def test_the_source_archive(built: pathlib.Path) -> None:
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    beside = {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert names == {f"src/{name}" for name in sources()} | beside


def test_the_license_is_the_projects() -> None:
    assert (PACKAGE / "LICENSE").read_bytes() == (PACKAGE.parents[1] / "LICENSE").read_bytes()


def test_the_versions_are_pinned() -> None:
    pinned = {line.partition("==")[0].lower() for line in (PACKAGE / "constraints.txt").read_text().split()}
    wanted = (PACKAGE / "requirements-dev.txt").read_text() + (
        PACKAGE / "conformance" / "requirements.txt"
    ).read_text()
    names = {line.lower() for line in wanted.splitlines() if line and not line.startswith("#")}
    assert names <= pinned
    assert "httpx" in pinned
