"""Imports go one way, modules are small, importing changes no global state."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "paritylab"
README = (ROOT / "README.md").read_text()

#: The library, what a user would call: a layer imports only from layers before it, sub-packages
#: included; a module belongs to the longest name that fits.
LIBRARY = (
    *("_support", "options", "statistics", "figures"),
    *("problem", "baselines", "models", "theory"),
    *("risk.result", "risk.routes", "risk"),
    *("learning.data", "learning.contract", "learning.saving"),
    *("learning.judging", "learning.descent", "learning.objective", "learning.stepwise"),
    *("learning.training", "learning.runs", "learning.networks", "learning.shallow_nets"),
    *("learning.xor", "learning.heads", "learning.chain"),
    *("learning.hardness", "learning", "experiments", "execution", "sweep"),
)
#: The laboratory that is built on it: proofs, claims, and the interfaces, which come last.
LABORATORY = ("proofs", "claims.engine", "claims", "report", "cli")
#: The package itself: public names in its stub, and `python -m paritylab`.
TOP = ("__init__", "__main__")
LAYERS = (*LIBRARY, *LABORATORY, *TOP)
#: Modules that lie at the top of the package because users import them.
PUBLIC_MODULES = {"options"}

LINES_PER_MODULE, LINES_PER_FUNCTION = 400, 60


def layer_of(module: str) -> str | None:
    fitting = [layer for layer in LAYERS if module == layer or module.startswith(f"{layer}.")]
    return max(fitting, key=len, default=None)


def module_of(path: Path) -> str:
    """A file's module, without the package's name."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imported_names(path: Path, root: Path = PACKAGE):
    """What a file imports, by full names: a module, or a module and a name of it."""
    package = (root.name, *path.relative_to(root).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*parent, *filter(None, [node.module])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


#: The modules of names that can be imported from the package itself.
HOMES = {
    name.rpartition(".")[2]: name.removeprefix("paritylab.")
    for name in imported_names(PACKAGE / "__init__.pyi")
}


def imported_modules(path: Path):
    """Modules of the package that a file imports, without the package's name."""
    for name in imported_names(path):
        if name == "paritylab":
            yield "__init__"
        elif name.startswith("paritylab."):
            module = name.removeprefix("paritylab.")
            # A name that no layer holds, such as __version__, is one of the package itself.
            yield HOMES.get(module, module if layer_of(module) else "__init__")


SOURCES = sorted(path for pattern in ("*.py", "*.pyi") for path in PACKAGE.rglob(pattern))
#: Counterexamples are scripts of a user, who imports from the top.
MODULES = [path for path in SOURCES if path.parent.name != "counterexamples"]


def name_in_package(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=name_in_package)
def test_imports_go_one_way(path):
    module = module_of(path)
    layer = layer_of(module)
    assert layer is not None, f"{module} belongs to no layer"
    for imported in set(imported_modules(path)) - {"__init__"}:
        below = layer_of(imported)
        assert LAYERS.index(below) <= LAYERS.index(layer), f"{module} imports {imported}"


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("_support.files", "from paritylab.statistics import Rate"),
        ("statistics.rates", "def late():\n    import paritylab.figures.charts"),
        ("figures", "from ..problem import Parity"),
        ("theory.hg1", "from paritylab import learn"),
        ("options", "from paritylab import cli"),
    ],
)
def test_an_import_of_a_higher_layer_is_noticed(module, text, tmp_path):
    """The walker of this file on planted imports: late, relative, through the package's names."""
    folder = tmp_path / "paritylab"
    path = folder.joinpath(*module.split(".")).with_suffix(".py")
    if module == "figures":
        path = folder / "figures" / "__init__.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    (name,) = imported_names(path, folder)
    name = name.removeprefix("paritylab.")
    assert LAYERS.index(layer_of(HOMES.get(name, name))) > LAYERS.index(layer_of(module))


def test_nothing_is_loose_at_the_top():
    loose = {path.stem for path in PACKAGE.glob("*.py")}
    assert loose == {*TOP, *PUBLIC_MODULES}


def test_the_library_imports_nothing_of_the_laboratory():
    for path in MODULES:
        if layer_of(module_of(path)) in LIBRARY:
            layers = {layer_of(imported) for imported in imported_modules(path)}
            assert not layers & set(LABORATORY), path


def test_baselines_and_what_lies_below_them_know_no_jax():
    """Neither do the modules that they import, which may share a layer with some that do."""
    below = LIBRARY[: LIBRARY.index("baselines")]
    files = {module_of(path): path for path in MODULES if path.suffix == ".py"}
    waiting, met = [name for name in files if layer_of(name) in ("baselines", "figures")], set()
    while waiting:
        module = waiting.pop()
        if module in met:
            continue
        met.add(module)
        for name in imported_names(files[module]):
            assert name.split(".")[0] not in ("jax", "jaxlib", "equinox", "optax"), module
        imported = [each for each in imported_modules(files[module]) if each != "__init__"]
        assert {layer_of(each) for each in imported} <= {*below, "baselines"}, module
        waiting += [
            max((file for file in files if each == file or each.startswith(f"{file}.")), key=len)
            for each in imported
        ]
    assert {"baselines.solving", "statistics.rates", "_support.checks"} <= met


def test_proofs_stand_alone():
    """A checker that shared a line with what it checks would prove less."""
    for path in (PACKAGE / "proofs").rglob("*.py"):
        assert {layer_of(each) for each in imported_modules(path)} <= {"proofs"}, path


def test_every_package_is_a_layer():
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert packages <= {layer.split(".")[0] for layer in LAYERS}


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


def test_the_documented_sweep_file_is_a_grid(tmp_path):
    from paritylab.sweep import grid_from_toml

    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/howto/everyday.md").read_text(), re.S)
    (tmp_path / "grid.toml").write_text(text)
    assert len(list(grid_from_toml(tmp_path / "grid.toml").specs())) == 24
