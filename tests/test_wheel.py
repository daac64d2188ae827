"""The wheel works away from the repository: unpacked, and installed with its requirements."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What a reviewer needs of the source distribution beside the package.
CARRIED = (
    "Makefile",
    "requirements.lock",
    "docs/requirements.lock",
    "CONTRIBUTING.md",
    "CITATION.cff",
    "mkdocs.yml",
    "examples/tour.ipynb",
    "packaging/description.md",
    "tests/test_wheel.py",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def assert_works(python: list[str], folder: Path, package: Path, **variables: str) -> None:
    """A check, a training and the report with this Python, whose paritylab lies in `package`."""
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    kept.pop("VIRTUAL_ENV", None)
    places = ("XDG_CACHE_HOME", "XDG_DATA_HOME", "HOME")
    environment = kept | {name: str(folder / name.lower()) for name in places} | variables
    environment["PARITYLAB_STORE"] = str(folder / "store.db")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*python, *arguments],
            env=environment,
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    where = "import paritylab, sys; print(paritylab.__file__, *sys.path, sep='\\n')"
    file, *path = run("-c", where).splitlines()
    assert Path(file).is_relative_to(package)
    assert not [entry for entry in path if entry and Path(entry).is_relative_to(ROOT / "src")]
    lab = ("-m", "paritylab")
    checked = run(*lab, "check", "hg1-marginals", "--effort", "quick", "--json", "rows.json")
    trained = run(*lab, "train", "heads", "--n", "6", "--k", "2", "--runs", "2", "--steps", "5")
    run(*lab, "report", "--from", "rows.json", "--out", "page")
    assert "hg1-marginals" in (folder / "page" / "index.html").read_text(encoding="utf-8")
    assert "of 2" in trained, trained
    print(checked, trained)


def test_the_wheel_works_without_the_checkout(wheel, tmp_path):
    """-S: without the .pth files by which a development environment finds the checkout."""
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    libraries = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    path = os.pathsep.join([str(site), *libraries])
    assert_works([sys.executable, "-S"], tmp_path / "work", site, PYTHONPATH=path)
    assert (site / "paritylab" / "py.typed").exists()
    assert (site / "paritylab" / "claims" / "engine" / "recorded.json").exists()


@pytest.mark.slow
def test_the_wheel_and_its_requirements_work_in_a_new_environment(wheel, tmp_path):
    """Needs a package index: pip installs what the wheel declares, and nothing else is there."""
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir", str(wheel)]
    done = subprocess.run(install, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    absent = "import importlib.util as u; print([m for m in ('pytest', 'flint') if u.find_spec(m)])"
    seen = subprocess.run([str(python), "-I", "-c", absent], check=True, capture_output=True)
    assert seen.stdout.strip() == b"[]"
    assert_works([str(python)], tmp_path / "work", home)


def test_the_source_distribution_has_what_a_reviewer_needs(tmp_path):
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert set(CARRIED) <= names
    assert not any(name.startswith(("site/", "build/", ".paritylab")) for name in names)
