"""Reference pages for the site: every public name with signature, arguments and methods.

Meanings of arguments are read from docstrings in the house's form ("name: meaning."), then from
the table of settings, then from `arguments.py`. Types are shown as the source writes them.
"""

import ast
import enum
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from arguments import COMMON

import paritylab
from paritylab import lazy
from paritylab.learning import LEARNERS
from paritylab.options import OPTIONS


class Argument(NamedTuple):
    """One argument as the page shows it."""

    name: str
    type: str
    default: str
    meaning: str


def rooms() -> dict[str, list[str]]:
    """Public names by the room they come from, in the order of the alphabet."""
    homes = lazy.homes(paritylab.__file__)
    return {
        home: sorted((name for name in homes if homes[name] == home), key=str.lower)
        for home in sorted(set(homes.values()))
    }


def pages() -> dict[str, str]:
    """Every reference page by its file name."""
    made = {f"{room_name(home)}.md": room_page(home, names) for home, names in rooms().items()}
    return {"index.md": index_page(), **made}


def room_name(home: str) -> str:
    return home.removeprefix("paritylab.")


def index_page() -> str:
    lines = [
        "# Public names",
        "",
        "Import each from `paritylab`. These names and their signatures are "
        "[stable](../stability.md) within a minor version.",
        "",
    ]
    for home, names in rooms().items():
        page = f"{room_name(home)}.md"
        lines += [f"## [{room_name(home)}]({page})", ""]
        lines += [f"- [`{name}`]({page}#{name}): {summary(named(name))}" for name in names]
        lines.append("")
    return "\n".join(lines)


def room_page(home: str, names: list[str]) -> str:
    parts = [f"# {home}"]
    parts += [entry(name) for name in names]
    return "\n\n".join(parts) + "\n"


def named(name: str) -> Any:
    return getattr(paritylab, name)


def described(value: Any) -> bool:
    """Whether a value has words of its own, not those of its type."""
    return inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__")


def words(value: Any) -> str:
    return (inspect.getdoc(value) or "") if described(value) else ""


def summary(value: Any) -> str:
    first = " ".join(words(value).split("\n\n")[0].split())
    return first or f"a value of type {type(value).__name__}"


def entry(name: str) -> str:
    """Heading, signature, words, table of arguments, methods."""
    value = named(name)
    parts = [f"## {name} {{ #{name} }}"]
    if not described(value):
        return "\n\n".join([*parts, f"A value of type `{type(value).__name__}`: `{short(value)}`."])
    arguments = arguments_of(name, value)
    head, *rest = paragraphs(words(value), [each.name for each in arguments])
    parts += [f"```python\n{signature(name, value, arguments)}\n```", head]
    parts += [table(arguments)] if arguments else []
    parts += rest
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        parts.append("\n".join(f"- `{each.name}`: {each.value}" for each in value))
    elif inspect.isclass(value):
        parts += methods(value)
    return "\n\n".join(part for part in parts if part)


def short(value: Any) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value)).replace("`", "'")
    return text if len(text) < 160 else text[:160] + " …"


def signature(name: str, value: Any, arguments: list[Argument]) -> str:
    """The call as one writes it, one argument a line where it is long."""
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return f"{name}(value)"
    given, starred = [], False
    parameters = parameters_of(value)
    for each in arguments:
        kind = parameters[each.name].kind
        prefix = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        if kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            given.append("*")
        starred |= kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
        typed = f": {each.type}" if each.type else ""
        default = f" = {each.default}" if each.default else ""
        given.append(f"{prefix.get(kind, '')}{each.name}{typed}{default}")
    back = "" if inspect.isclass(value) else returns(value)
    line = f"{name}({', '.join(given)}){back}"
    if len(line) <= 80:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in given) + f"){back}"


def parameters_of(value: Any) -> Mapping[str, inspect.Parameter]:
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return {}
    if getattr(value, "_is_protocol", False):
        return {}
    return inspect.signature(value).parameters


def arguments_of(name: str, value: Any) -> list[Argument]:
    types, said = source_types(value), meanings(value)
    settings = settings_of(value)
    made = []
    for parameter in parameters_of(value).values():
        if parameter.name == "self":
            continue
        meaning = said.get(parameter.name) or settings.get(parameter.name)
        own = COMMON.get(f"{name}.{parameter.name}", "")
        meaning = own or meaning or COMMON.get(parameter.name, "")
        default = parameter.default
        shown = "" if default is inspect.Parameter.empty else default_text(default)
        made.append(Argument(parameter.name, types.get(parameter.name, ""), shown, meaning))
    return made


def default_text(default: Any) -> str:
    text = str(getattr(default, "__name__", repr(default)))
    if text in ("<factory>", "<lambda>"):
        return "…"
    if inspect.isfunction(default) or inspect.isclass(default):
        return text
    if isinstance(default, enum.Enum):
        return repr(default.value)
    return short(default)


def settings_of(value: Any) -> dict[str, str]:
    """What the table of settings says of a learner's fields."""
    names = [name for name, made in LEARNERS.items() if made is value]
    return {
        key: option.help[:1].lower() + option.help[1:].rstrip(".")
        for name in names
        for key, option in OPTIONS.get(name, {}).items()
    }


def returns(value: Any) -> str:
    tree = source_tree(value)
    back = getattr(tree, "returns", None)
    return f" -> {ast.unparse(back)}" if back is not None else ""


def source_tree(value: Any) -> ast.AST | None:
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(value)))
    except (OSError, TypeError):
        return None
    return ast.parse(text).body[0]


def source_types(value: Any) -> dict[str, str]:
    """Annotations as the source writes them, those of a class's fields and bases included."""
    if inspect.isclass(value):
        found: dict[str, str] = {}
        for base in reversed(value.__mro__):
            if not base.__module__.startswith("paritylab"):
                continue
            tree = source_tree(base)
            for node in getattr(tree, "body", []):
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found[node.target.id] = ast.unparse(node.annotation)
                elif isinstance(node, ast.FunctionDef) and node.name in ("__init__", "__new__"):
                    found |= typed_arguments(node)
        return found
    tree = source_tree(value)
    return typed_arguments(tree) if isinstance(tree, ast.FunctionDef) else {}


def typed_arguments(node: ast.FunctionDef) -> dict[str, str]:
    listed = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    listed += [each for each in (node.args.vararg, node.args.kwarg) if each]
    return {each.arg: ast.unparse(each.annotation) for each in listed if each.annotation}


def meanings(value: Any) -> dict[str, str]:
    """What docstrings say of each argument; a class speaks after its bases."""
    sources = [value]
    if inspect.isclass(value):
        sources = [b for b in reversed(value.__mro__) if b.__module__.startswith("paritylab")]
        sources += [vars(value)[name] for name in ("__init__",) if name in vars(value)]
    known = list(parameters_of(value))
    said: dict[str, str] = {}
    for source in sources:
        for paragraph in words(source).split("\n\n"):
            said |= dict(told(paragraph, known)[1])
    return said


def told(paragraph: str, known: list[str]) -> tuple[str, list[tuple[str, str]]]:
    """A paragraph split into what is not about arguments and what is: (rest, (name, meaning)s)."""
    text = " ".join(paragraph.split())
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    if not names or ">>>" in text:
        return paragraph, []
    start = rf"(?:(?<=^)|(?<=[.;] ))((?:{names})(?:, (?:{names}))*): "
    pieces = re.split(start, text)
    found = [
        (name, meaning.strip().rstrip("."))
        for listed, meaning in zip(pieces[1::2], pieces[2::2], strict=True)
        for name in listed.split(", ")
    ]
    return (pieces[0].strip() if found else paragraph), found


def paragraphs(text: str, known: list[str]) -> list[str]:
    """A docstring's paragraphs without what the table of arguments says; code as code."""
    kept = []
    for number, paragraph in enumerate(text.split("\n\n")):
        if ">>>" in paragraph:
            kept.append(f"```pycon\n{paragraph.strip()}\n```")
            continue
        rest, _ = told(paragraph, known)
        if rest or not number:
            kept.append(rest)
    return kept or [""]


def table(arguments: list[Argument]) -> str:
    lines = ["| argument | type | default | meaning |", "|---|---|---|---|"]
    for each in arguments:
        meaning = each.meaning.replace("|", "&#124;")  # bars inside code are safe as they are
        cells = (f"`{each.name}`", coded(each.type), coded(each.default), meaning)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def coded(text: str) -> str:
    return f"`{text}`" if text else ""


def methods(value: type) -> list[str]:
    """Public methods and properties that the class itself defines, a line or two each."""
    lines = []
    for name, member in vars(value).items():
        call = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        getter = getattr(call, "fget", None) or getattr(call, "func", None)
        if name.startswith("_") or not (inspect.isfunction(call) or getter):
            continue
        said = " ".join((inspect.getdoc(getter or call) or "").split("\n\n")[0].split())
        lines.append(
            f"- `{name}{'' if getter else method_call(call)}`" + (f": {said}" * bool(said))
        )
    return ["**Members**", "\n".join(lines)] if lines else []


def method_call(call: Callable[..., Any]) -> str:
    types = source_types(call)
    shown = []
    for each in list(inspect.signature(call).parameters.values())[1:]:
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        typed = f": {types[each.name]}" if each.name in types else ""
        default = "" if each.default is each.empty else f" = {default_text(each.default)}"
        shown.append(f"{stars}{each.name}{typed}{default}")
    return f"({', '.join(shown)}){returns(call)}"


def unexplained() -> list[str]:
    """Arguments of public names that nothing explains."""
    return [
        f"{name}.{each.name}"
        for names in rooms().values()
        for name in names
        if described(named(name))
        for each in arguments_of(name, named(name))
        if not each.meaning
    ]
