"""The command line's reference page, read from the commands themselves."""

from collections.abc import Iterator

import click
import typer.main

from paritylab.cli.app import app


def page() -> str:
    """Every command with what it takes."""
    parts = ["# Command line", "`python -m paritylab` is the same as `paritylab`. " + EXITS]
    context = click.Context(typer.main.get_command(app), info_name="paritylab")
    for name, command, inner in walk(context):
        parts += entry(name, command, inner)
    return "\n\n".join(parts) + "\n"


EXITS = (
    "Exit codes: 0 done, 1 a verdict differs from the recorded one, 2 bad input, 3 no parity "
    "found, 4 an internal error or a failed claim, 130 interrupted with finished work saved."
)


def walk(context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Commands that do something, groups opened."""
    command = context.command
    if not isinstance(command, click.Group):
        yield context.command_path, command, context
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None and not inner.hidden:
            yield from walk(click.Context(inner, info_name=name, parent=context))


def entry(name: str, command: click.Command, context: click.Context) -> list[str]:
    parts = [f"## {name}", (command.help or "").replace("\n\n", "\n\n").strip()]
    rows = [
        (" ".join(parameter.opts + parameter.secondary_opts), help_of(parameter))
        for parameter in command.get_params(context)
        if not getattr(parameter, "hidden", False) and "--help" not in parameter.opts
    ]
    if rows:
        lines = ["| takes | meaning |", "|---|---|"]
        lines += [f"| `{names}` | {text.replace('|', '&#124;')} |" for names, text in rows]
        parts.append("\n".join(lines))
    if command.epilog:
        parts.append(command.epilog)
    return parts


def help_of(parameter: click.Parameter) -> str:
    words = getattr(parameter, "help", None) or ""
    default = parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, bool)
    return words + (f" Default: {default}." if plain and default != "" else "")
