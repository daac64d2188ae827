"""What the package imports it declares, and the other way round; the locks hold all of it."""

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
PACKAGES = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def distribution(requirement: str) -> str:
    """The name in a requirement such as `jax[cuda12]>=0.10; python_version < "3.14"`."""
    return normalized(re.match(r"[\w.-]+", requirement)[0])


def third_party(source: str, own: set[str]) -> set[str]:
    """The modules of other distributions that a text imports, inside functions, too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return names - own - set(sys.stdlib_module_names)


@cache
def installed() -> Mapping[str, list[str]]:
    """The distributions that bring each module."""
    return packages_distributions()


@cache
def imports() -> dict[str, list[str]]:
    """For each module of other distributions the files in `src` that import it."""
    own = {Path(package).name for package in PACKAGES}
    importing: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for name in third_party(path.read_text(), own):
            importing.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return importing


def distributions(module: str) -> set[str]:
    """The distributions that bring a module; by its own name if it is not installed."""
    return {normalized(name) for name in installed().get(module, [module])}


CORE = {distribution(line) for line in PROJECT["dependencies"]}
EXTRAS = {
    name: {distribution(line) for line in lines}
    for name, lines in PROJECT["optional-dependencies"].items()
}
DECLARED = CORE.union(*EXTRAS.values())


def test_every_import_is_declared():
    undeclared = {
        module: files for module, files in imports().items() if not distributions(module) & DECLARED
    }
    assert undeclared == {}


def test_every_requirement_is_imported():
    imported = {name for module in imports() for name in distributions(module)}
    assert DECLARED - imported == set()


def test_an_undeclared_import_would_be_noticed():
    source = "import os\nimport numpy.linalg\ndef f():\n    from joblib.externals import loky\n"
    assert third_party(source, {"paritylab"}) == {"numpy", "joblib"}
    assert distribution('jax[cuda12]>=0.10; python_version < "3.14"') == "jax"
    assert distributions("sklearn") == {"scikit-learn"}
    assert "joblib" not in DECLARED


def test_modules_of_extras_are_imported_where_they_are_used_only():
    """At the top of a module they would be missing from a plain installation."""
    optional = DECLARED - CORE
    for path in sorted((ROOT / "src").rglob("*.py")):
        if path.is_relative_to(ROOT / "src" / "paritylab" / "proofs"):
            continue  # imported as a whole by the command that asks for its extra
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = third_party(ast.unparse(node), set())
                assert not {d for name in names for d in distributions(name)} & optional, path


def test_the_description_of_the_package_has_no_links():
    text = (ROOT / PROJECT["readme"]).read_text()
    assert not re.search(r"\]\(|https?:|<img|!\[", text)


@pytest.mark.parametrize("name", ["requirements.lock", "docs/requirements.lock"])
def test_the_locks_hold_every_requirement_and_no_address(name):
    text = (ROOT / name).read_text()
    locked = {normalized(line) for line in re.findall(r"^([\w.-]+)==", text, flags=re.MULTILINE)}
    assert locked >= CORE
    assert not re.search(r"https?:|file:|^-", text, flags=re.MULTILINE)
    groups = PYPROJECT["dependency-groups"]
    group = groups["docs" if name.startswith("docs/") else "dev"]
    assert locked >= {distribution(line) for line in group}
