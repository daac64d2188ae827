"""Command-line options made from the table of settings."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from paritylab.options import Option


def parameter(name: str, kind: Any, default: Any, text: str) -> inspect.Parameter:
    """One option of a command. kind: a type, or an `Option` of the table."""
    python_name = name.replace("-", "_")
    if isinstance(kind, Option):
        kind = _type_of(kind)
        kind = kind if default is not None else kind | None
    flag = "--" + name.replace("_", "-")
    names = [f"{flag}/--no-{flag[2:]}"] if kind == bool | None else [flag]
    extra = {"envvar": "PARITYLAB_STORE"} if name == "store" else {}
    return inspect.Parameter(
        python_name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(*names, help=text, **extra)],  # type: ignore[call-overload]
    )


def _type_of(option: Option) -> Any:
    if option.formula:
        return str
    return Literal[option.choices] if option.choices else option.type


def parameters_of(table: dict[str, Option]) -> list[inspect.Parameter]:
    """Options for every setting of a table that can be typed; absent means the learner's own."""
    typed = {name: option for name, option in table.items() if option.choices or not option.own}
    return [parameter(name, option, None, option.help) for name, option in typed.items()]


def add_command(
    app: typer.Typer,
    name: str,
    options: list[inspect.Parameter],
    run: Callable[[dict[str, Any]], None],
    text: str,
    example: str,
) -> None:
    """Register a command whose options are a list; it receives their values as a dict."""

    def command(**values: Any) -> None:
        run(values)

    command.__doc__ = text
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in options}
    app.command(name, epilog=f"Example: {example}")(command)
