"""The built wheel works away from the repository."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

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
    "tests/test_wheel.py",
)


def test_the_wheel_installs_and_checks(tmp_path):
    python = sys.executable
    build = [python, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    install = [python, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    where = "import paritylab; print(paritylab.__file__)"
    found = subprocess.run(
        [python, "-c", where], env=environment, cwd=work, check=True, capture_output=True, text=True
    )
    assert found.stdout.startswith(str(site))
    check = [python, "-m", "paritylab", "check", "hg1-marginals", "--effort", "quick"]
    subprocess.run([*check, "--report", "page"], env=environment, cwd=work, check=True)
    assert (work / "page" / "index.html").exists()
    assert (site / "paritylab" / "py.typed").exists()
    assert (site / "paritylab" / "claims" / "engine" / "recorded.json").exists()


def test_the_source_distribution_has_what_a_reviewer_needs(tmp_path):
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert set(CARRIED) <= names
    assert not any(name.startswith(("site/", "build/", ".paritylab")) for name in names)
