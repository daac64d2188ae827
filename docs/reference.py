"""The site's reference: public names from their signatures and docstrings, commands from typer."""

import ast
import enum
import inspect
import re
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import click
import typer
import typer.cli

import paritylab
from paritylab.cli.app import app
from paritylab.cli.train import learner_commands

_EXITS = (
    "`python -m paritylab` is the same as `paritylab`. Exit codes: 0 done, 1 a verdict differs "
    "from the recorded one, 2 bad input, 4 an internal error or a failed claim, 130 interrupted "
    "with finished work saved."
)


def rooms() -> dict[str, list[str]]:
    """Public names by the room they come from, in the order of the alphabet; those of a private
    room have their home in the package itself."""
    stub = ast.parse(Path(paritylab.__file__).with_suffix(".pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {
        alias.name: f"paritylab.{node.module}".split("._")[0]
        for node in imports
        for alias in node.names
    }
    return {
        home: sorted((name for name in homes if homes[name] == home), key=str.lower)
        for home in sorted(set(homes.values()))
    }


def pages() -> dict[str, str]:
    """Every reference page of the site by its file name."""
    made = {"index.md": index(linked=True), "commands.md": commands_page()}
    for home, names in rooms().items():
        made[page_of(home)] = "\n\n".join([f"# {home}", *map(entry, names)]) + "\n"
    return made


def page_of(home: str) -> str:
    return f"{home.removeprefix('paritylab.')}.md"


def index(linked: bool) -> str:
    """Every public name with its first sentence. linked: to the site's pages with signatures."""
    stable = f"[stable]({'../' if linked else ''}stability.md)"
    parts = [
        "# Public names",
        "Import each from `paritylab`; `help(name)` says more. These names and their signatures "
        f"are {stable} within a minor version.",
    ]
    for home, names in rooms().items():
        page = page_of(home)
        heads = {name: f"[`{name}`]({page}#{name})" if linked else f"`{name}`" for name in names}
        parts.append(f"## [{home}]({page})" if linked else f"## {home}")
        parts.append("\n".join(f"- {head}: {summary(name)}" for name, head in heads.items()))
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """Every command with what it takes, as typer writes it."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="paritylab")
    text = typer.cli.get_docs_for_click(obj=command, ctx=context, name="paritylab")
    learners = [
        f"## `paritylab train {name}`\n\n```text\n{_help(name, each)}\n```\n"
        for name, each in learner_commands().items()
    ]
    return "\n".join([text.replace("\n\n", f"\n\n{_EXITS}\n\n", 1), *learners])


def _help(name: str, command: click.Command) -> str:
    with command.make_context(
        f"paritylab train {name}", ["--help"], resilient_parsing=True
    ) as made:
        return command.get_help(made)


def summary(name: str) -> str:
    """The first sentence of a docstring; of a constant, what it is."""
    text = " ".join(_docstring(getattr(paritylab, name)).split("\n\n")[0].split())
    first = re.split(r"(?<=[.!?])\s", text)[0]
    return first or f"a value of type {type(getattr(paritylab, name)).__name__}"


def entry(name: str) -> str:
    """Heading, signature, docstring, members."""
    value = getattr(paritylab, name)
    parts = [f"## {name} {{ #{name} }}"]
    if not _docstring(value):
        return "\n\n".join([*parts, f"{summary(name)[:1].upper()}{summary(name)[1:]}."])
    parts.append(f"```python\n{name}{signature(value)}\n```")
    for paragraph in _docstring(value).split("\n\n"):
        parts.append(f"```pycon\n{paragraph}\n```" if ">>>" in paragraph else paragraph)
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        parts.append("\n".join(f"- `{each.name}`: {each.value}" for each in value))
    elif inspect.isclass(value) and (members := list(_members(value))):
        parts += ["**Members**", "\n".join(members)]
    return "\n\n".join(parts)


def _docstring(value: Any) -> str:
    """The words of a function or class; a constant has only those of its type."""
    own = inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__")
    return (inspect.getdoc(value) or "") if own else ""


def signature(value: Any) -> str:
    """The call as one writes it, one argument a line where it is long."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = [
        _short(str(each.replace(annotation=_bare(each.annotation))))
        for each in found.parameters.values()
        if each.name not in ("self", "cls")
    ]
    back = found.return_annotation
    plain = inspect.isclass(value) or back is inspect.Signature.empty
    arrow = "" if plain else f" -> {_short(inspect.formatannotation(back))}"
    line = f"({', '.join(shown)}){arrow}"
    return line if len(line) <= 80 else "(\n" + "".join(f"    {e},\n" for e in shown) + f"){arrow}"


def _bare(annotation: Any) -> Any:
    """A type without the limits and words that a learner's fields carry; settings.md has them."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _short(text: str) -> str:
    """Names without their modules, and no addresses of objects."""
    text = re.sub(r"<(?:function|class|built-in function) '?([\w.]+)'?[^>]*>", r"\1", text)
    text = re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _members(value: type) -> Any:
    """Public methods and properties that the class itself defines, a line each."""
    for name, member in vars(value).items():
        call = getattr(member, "__func__", member)
        getter = getattr(call, "fget", None) or getattr(call, "func", None)
        if name.startswith("_") or not (inspect.isfunction(call) or getter):
            continue
        said = " ".join((inspect.getdoc(getter or call) or "").split("\n\n")[0].split())
        head = name if getter else f"{name}{' '.join(signature(call).split())}"
        yield f"- `{head}`" + (f": {said}" if said else "")
