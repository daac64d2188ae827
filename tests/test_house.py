"""The house keeps its own rules: one-way imports, honest README, no global state."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "paritylab"
README = (ROOT / "README.md").read_text()

#: The library, what a user would call: a part imports only from parts before it, sub-packages
#: included; a module belongs to the longest name that fits.
LIBRARY = (
    *(
        "lazy",
        "checks",
        "precision",
        "files",
        "untrusted",
        "options",
        "statistics",
        "colours",
        "charts",
        "problem",
        "models",
        "theory",
    ),
    *("risk.result", "risk.routes", "risk"),
    *("learning.data", "learning.contract", "learning.saving"),
    *("learning.judging", "learning.descent", "learning.objective", "learning.stepwise"),
    *("learning.training", "learning.runs", "learning.networks", "learning.shallow_nets"),
    *("learning.xor", "learning.heads", "learning.chain"),
    *("learning.hardness", "learning", "sweep"),
)
#: The laboratory that is built on it: proofs, claims, and the faces, which come last.
LABORATORY = ("proofs", "claims.engine", "claims", "report", "cli")
HOUSE = (*LIBRARY, *LABORATORY)

LINES_PER_MODULE, LINES_PER_FUNCTION = 400, 60


def part_of(module: str) -> str | None:
    fitting = [part for part in HOUSE if module == part or module.startswith(f"{part}.")]
    return max(fitting, key=len, default=None)


def imported_modules(path: Path):
    """Modules of the package that a file imports, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (n.removeprefix("paritylab.") for n in names if n.startswith("paritylab."))


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    own = part_of(module)
    assert own is not None, f"{module} belongs to no part of the house"
    for imported in imported_modules(path):
        part = part_of(imported)
        if part is not None:
            assert HOUSE.index(part) <= HOUSE.index(own), f"{module} imports {imported}"


def test_the_library_imports_nothing_of_the_laboratory():
    for path in MODULES:
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if part_of(module) in LIBRARY:
            parts = {part_of(imported) for imported in imported_modules(path)}
            assert not parts & set(LABORATORY), module


def test_proofs_stand_alone():
    """A checker that shared a line with what it checks would prove less."""
    for path in (PACKAGE / "proofs").rglob("*.py"):
        assert {part_of(each) for each in imported_modules(path)} <= {"proofs"}, path


def test_every_room_is_known():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms <= {part.split(".")[0] for part in HOUSE}


def test_modules_and_functions_stay_small():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= LINES_PER_MODULE, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                # a docstring may be long: that of a claim is its title and statement
                explained = (ast.get_docstring(node, clean=False) or "").count("\n")
                lines = node.end_lineno - node.lineno - explained
                assert lines < LINES_PER_FUNCTION, f"{path}: {node.name}"


def test_readme_is_short():
    assert len(README.split()) <= 950
    assert README.count("![") == 1


def test_the_first_block_of_the_readme_is_short():
    assert re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1).count("\n") <= 15


def test_readme_commands_exist():
    commands = set(re.findall(r"^(?:\.venv/bin/)?paritylab (\w+)", README, re.M))
    assert len(commands) >= 2
    help_text = subprocess.run(
        [sys.executable, "-m", "paritylab", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for command in commands:
        assert re.search(rf"^  {command} ", help_text, re.M)


def test_importing_changes_no_global_state():
    code = """
import logging, signal, sys
import jax

def state():
    own = list(sys.path), sys.excepthook, sys.unraisablehook, signal.getsignal(signal.SIGINT)
    logs = logging.root.level, list(logging.root.handlers)
    return dict(jax.config.values), own, logs

before = state()
sys.addaudithook = None  # a hook could never be taken away again
import paritylab
from paritylab import Parity, HeadAttention, enumerated_risk, check
from paritylab.report import write_report
problem = Parity(4, (0, 2))
enumerated_risk(HeadAttention.on(problem), problem)
assert before == state()
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_and_help_stay_light():
    code = """
import sys
import paritylab, paritylab.cli
heavy = {"jax", "matplotlib", "scipy", "sklearn", "equinox"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_loads():
    import paritylab

    for name in paritylab.__all__:
        assert getattr(paritylab, name) is not None
    with pytest.raises(AttributeError, match="nothing_here"):
        paritylab.nothing_here  # noqa: B018


def test_every_benchmark_finds_what_it_imports():
    """They run by hand, for hours; what they call may have moved meanwhile."""
    code = (
        "import pathlib, runpy, sys; sys.path[:0] = ['.', 'benchmarks'];"
        "[runpy.run_path(str(each), run_name='imported')"
        " for each in sorted(pathlib.Path('benchmarks').glob('*.py'))]"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_ci_runs_exactly_the_test_command():
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line]
    assert lines[-1] == "make test"
    assert "make test" in README


def test_the_documented_sweep_file_is_a_grid(tmp_path):
    from paritylab.sweep import grid_from_toml

    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/howto/everyday.md").read_text(), re.S)
    (tmp_path / "grid.toml").write_text(text)
    assert len(list(grid_from_toml(tmp_path / "grid.toml").specs())) == 24
