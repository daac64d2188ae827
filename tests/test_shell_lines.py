"""Every shell line of README and the documents is typed, page by page, in an empty folder.

The quick ones run by default, all of them with `make test-slow`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Lines that are not typed: they install, need other machines, or are the whole laboratory.
EXCEPTED = (
    r"make ",
    r"(pip|uv|git|python -m (pip|build|venv|twine)|pre-commit) ?",
    r"(dask|export|for|done) ?",
    r"python -m pytest",
    r".*tcp://|.*tls://",  # a cluster of one's own
    r".*--effort full",  # published sizes, hours
    r"(sqlite3|.*whole\.db)",  # the sqlite3 shell recovers a damaged store
)
#: Lines that take longer than the default run allows, and those that need what they leave behind.
SLOW = (
    r".*check --paper",
    r".*check --report",
    r".*report --from",
    r".*train (heads|chain|layers|transformer)",
    r"paritylab sweep",
    r"paritylab prove( --record)?$",  # the long certificate, minutes
    r"paritylab live",  # README types it, too
    r"paritylab check hg1-floor",  # README types it, too
    r".*check --file",
)
#: Pages that are made here: from claims, and README from its template.
MADE_HERE = ("docs/claims", "docs/templates")
PAGES = [
    path
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if "```sh" in path.read_text() and not path.relative_to(ROOT).as_posix().startswith(MADE_HERE)
]
#: Files that a page speaks of as the reader's own.
LOSSES = "def my_loss(y, prediction):\n    return (y - prediction) ** 2\n"
LEARNERS = """\
import equinox as eqx
import jax
from paritylab.learning import Population, register_learner


@register_learner("mine")
class Mine:
    takes = (Population,)
    steps = 5

    def init(self, key, target):
        return eqx.nn.MLP(target.n, "scalar", 4, 1, key=key)

    def step(self, net, risk, key):
        value, gradient = risk(net)
        return eqx.apply_updates(net, jax.tree.map(lambda slope: -0.1 * slope, gradient)), value

    def model(self, net, target):
        return net
"""
GRID = (
    'learner = "heads"\nruns = 20\nblock = 10\n[problem]\nn = [16, 32]\n[settings]\n'
    'preset = "pair"\nwidth = [20]\n'
)


def lines_of(page: Path) -> list[str]:
    """The commands of a page in order, without comments; a block of export and for is one."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            plain = re.sub(r"\s+#.*$", "", line).strip()
            if plain and not plain.startswith("#"):
                found.append(plain)
    return found


def matches(line: str, patterns: tuple[str, ...]) -> bool:
    return any(re.match(pattern, line) for pattern in patterns)


def typed(page: Path, *, slow: bool) -> list[str]:
    """What is typed of a page; of the quick lines those that no page before it has."""
    lines = [line for line in lines_of(page) if not matches(line, EXCEPTED)]
    before = {line for other in PAGES[: PAGES.index(page)] for line in lines_of(other)}
    return [line for line in lines if slow or not (matches(line, SLOW) or line in before)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the reader's files, and programs that run this tree."""
    bin = tmp_path_factory.mktemp("bin")
    for name, call in (("paritylab", "-m paritylab"), ("python", "")):
        program = bin / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
        program.chmod(0o755)
    folder = tmp_path_factory.mktemp("desk")
    (folder / "grid.toml").write_text(GRID)
    (folder / "mine.py").write_text(LOSSES)
    (folder / "my_learners.py").write_text(LEARNERS)
    (folder / "examples").symlink_to(ROOT / "examples")
    shutil.copyfile(ROOT / "examples" / "new_claim.py", folder / "my_claims.py")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(bin)
    return bin, folder


def run_page(page, desk, tmp_path, *, slow):
    bin, folder = desk
    work = shutil.copytree(folder, tmp_path / "work", symlinks=True)
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PATH": f"{bin}:{os.environ['PATH']}",
        "PYTHONPATH": ":".join(filter(None, paths)),
        "BROWSER": "true",
        "JAX_PLATFORMS": "cpu",
    }
    for line in typed(page, slow=slow):
        done = subprocess.run(
            ["bash", "-c", line],
            check=False,
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{page.name}: {line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", [p for p in PAGES if typed(p, slow=False)], ids=lambda p: p.stem)
def test_quick_lines_run(page, desk, tmp_path):
    run_page(page, desk, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if typed(p, slow=True) != typed(p, slow=False)],
    ids=lambda p: p.stem,
)
def test_all_lines_run(page, desk, tmp_path):
    run_page(page, desk, tmp_path, slow=True)


def test_nothing_is_excepted_by_accident():
    left_out = [line for page in PAGES for line in lines_of(page) if matches(line, EXCEPTED)]
    ours = [line for line in left_out if "paritylab" in line.split() and "full" not in line]
    assert all("://" in line or "whole.db" in line or "pip" in line for line in ours)
    every = [line for page in PAGES for line in typed(page, slow=True)]
    assert sum(line.startswith(("paritylab", ".venv")) for line in every) > 30
