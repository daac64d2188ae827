"""`paritylab train NAME`: runs of any registered learner, a rate, a picture, a file."""

import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from paritylab.cli import console
from paritylab.cli.catalogue import Entry, catalogue, described_learners
from paritylab.cli.compiled import keep_compiled
from paritylab.cli.options import check_outputs, store_path
from paritylab.options import PROBLEM, Bound, Option, check_known, check_value

#: Entries of a trace, at most; runs of a compiled call, unless a command does fewer by default.
RECORDS, BLOCK = 60, 20
#: Runs of one command, at most: all of them are held in memory. A sweep keeps more on disk.
MOST_RUNS = 1_000_000
#: Options of every learner that say nothing of what is trained.
COMMON = {
    "runs": Option(int, "Random targets and starts.", (Bound("≥", 1), Bound("≤", MOST_RUNS))),
    "seed": Option(int, "Run i uses fold_in(seed, i)."),
    "figure": Option(str, "Picture to write: svg, pdf or png; none is drawn if absent."),
    "save": Option(str, "Write all runs (.npz); Runs.load reads them."),
    "fresh": Option(bool, "Run again what is kept."),
    "store": Option(str, "Where finished work is kept; in your data folder if absent."),
    "file": Option(str, "Your own learners and losses, a Python file; it is run as code."),
}
#: Of every learner that does not say otherwise by its attribute `trains_on`.
DEFAULTS: dict[str, Any] = {"n": 12, "k": 2, "runs": 100, "seed": 0}
#: The problem's `fresh` has a name of its own here: `--fresh` runs again what is kept.
_FRESH_ROWS = "fresh-rows"
_TYPES: dict[type, "click.ParamType[Any]"] = {int: click.INT, float: click.FLOAT, str: click.STRING}


class Learners(click.Group):
    """A command for every learner, made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(catalogue())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = catalogue().get(cmd_name)
        return None if entry is None else _command(entry)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a learner; with --file, from the classes that the file registers too."""
        file = _file_among(args[1:])
        if file is None:
            check_known("learner", args[:1], catalogue())
            return super().resolve_command(ctx, args)
        from paritylab.learning import LEARNERS
        from paritylab.sweep import learners_from_file

        learners_from_file(file)
        check_known("learner", args[:1], LEARNERS)
        return args[0], _command(described_learners(args[:1])[args[0]]), args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Learners with the first sentence of their help."""
        rows = [
            (name, entry.help.split(". ")[0].rstrip(".")) for name, entry in catalogue().items()
        ]
        width = formatter.width - max(len(name) for name, _ in rows) - 4
        with formatter.section("Learners"):
            formatter.write_dl([(name, textwrap.shorten(text, width)) for name, text in rows])


app = Learners(
    name="train",
    help="Train a learner many times and say how often it succeeds.",
    epilog="Example: paritylab train heads --n 12 --k 2",
    no_args_is_help=True,
)


def add_to(parent: typer.Typer) -> None:
    """Register the command; typer has a click of its own and hands its words on as they are."""
    untouched = {"ignore_unknown_options": True, "help_option_names": []}

    @parent.command("train", help=app.help, context_settings=untouched)
    def train(
        words: Annotated[list[str] | None, typer.Argument(autocompletion=_names)] = None,
    ) -> None:
        try:
            with app.make_context("paritylab train", list(words or ())) as inner:
                app.invoke(inner)
        except click.exceptions.Exit:  # after --help
            pass


def _names(incomplete: str) -> list[str]:
    """Learners whose name begins so, for a shell that completes it."""
    return [name for name in catalogue() if name.startswith(incomplete)]


def learner_commands() -> dict[str, click.Command]:
    """The command of every learner of the package, for what lists or tries them all."""
    return {name: _command(entry) for name, entry in catalogue().items()}


def _file_among(words: Sequence[str]) -> str | None:
    """The value of --file among the words typed after a learner's name."""
    for at, word in enumerate(words):
        if word.startswith("--file="):
            return word.removeprefix("--file=")
        if word == "--file" and at + 1 < len(words):
            return words[at + 1]
    return None


def _command(entry: Entry) -> click.Command:
    """The command of a learner, with an option for each of its settings."""
    defaults = {**DEFAULTS, **entry.trains_on}

    def train(**values: Any) -> None:
        _train(entry, {name: value for name, value in values.items() if value is not None})

    example = " ".join(
        f"--{name} {value}" for name, value in defaults.items() if name in entry.problem
    )
    return click.Command(
        entry.name,
        callback=train,
        params=[_parameter(*each, defaults, entry) for each in _options(entry).items()],
        help=entry.help,
        epilog=f"Example: paritylab train {entry.name} {example}",
    )


def _options(entry: Entry) -> dict[str, Option]:
    """Options of a command by flag: of the problem, of the learner, and common ones."""
    options = {_FRESH_ROWS if name == "fresh" else name: PROBLEM[name] for name in entry.problem}
    if entry.presets:
        options["preset"] = Option(str, "Settings to start from.", choices=tuple(entry.presets))
    # A learner's own k is for rows that come without one.
    settings = {name: each for name, each in entry.options.items() if name != "k"}
    if taken := sorted(settings.keys() & {*options, *COMMON}):
        raise ValueError(
            f"the setting {taken[0]} of {entry.name} has the name of an option of train"
        )
    return {**options, **settings, **COMMON}


def _parameter(
    name: str, option: Option, defaults: Mapping[str, Any], entry: Entry
) -> click.Option:
    """An option as click reads it. None, its default, leaves the choice to the learner."""
    flag, help = "--" + name.replace("_", "-"), option.help
    default = defaults.get(name, entry.defaults.get(name))
    if default not in (None, ""):
        said = {True: "yes", False: "no"}.get(default, default) if option.type is bool else default
        help = f"{help} [default: {said}]"
    declared = [flag, name.replace("-", "_")]
    if option.type is bool and not option.formula:
        on = name in (_FRESH_ROWS, "fresh")
        both = flag if on else f"{flag}/--no-{flag[2:]}"
        return click.Option([both, declared[1]], is_flag=True, default=None, help=help)
    kind = _TYPES[str if option.formula else option.type]
    if option.choices and not option.own:
        kind = click.Choice(option.choices)
    elif option.own:
        names = [*option.choices, "FILE.py:NAME"]
        return click.Option(declared, type=click.STRING, metavar="|".join(names), help=help)
    environment = "PARITYLAB_STORE" if name == "store" else None
    return click.Option(declared, type=kind, help=help, envvar=environment)


def _train(entry: Entry, values: dict[str, Any]) -> None:
    """Run, print the table of outcomes; draw and save where asked to."""
    runs = values.get("runs", {**DEFAULTS, **entry.trains_on}["runs"])
    check_value("--runs", runs, COMMON["runs"])
    keep_compiled()
    from paritylab.cli import pictures
    from paritylab.figures import figure_format

    figure, save = (Path(values[each]) if each in values else None for each in ("figure", "save"))
    check_outputs(figure=figure, save=save)
    if figure is not None:
        figure_format(figure)
    given = {name: value for name, value in values.items() if name not in COMMON}
    specs = _specs(entry, given, runs, values.get("seed", DEFAULTS["seed"]))
    found, seconds, reused = _all_blocks(specs, values)
    spec = specs[0]
    described = " ".join(f"{name}={value}" for name, value in [*spec.problem, *spec.settings])
    console.say(f"{entry.name} {described}: {len(found)} runs in {seconds:.1f} s{reused}")
    console.print_table(["outcome", "value [95 % interval]"], pictures.outcomes(found))
    if figure is not None:
        pictures.draw(found, figure)
        print(f"figure: {figure}")
    if save is not None:
        print(f"{len(found)} runs: {found.save(save)}")


def _all_blocks(specs: list[Any], values: Mapping[str, Any]) -> tuple[Any, float, str]:
    """All runs of the command, kept or computed, the seconds it took, and what was reused."""
    from paritylab.learning import concatenate_runs
    from paritylab.sweep.blocks import data_of, learner_of
    from paritylab.sweep.runner import kept_runs

    learner = learner_of(specs[0])
    data_of(specs[0], learner)  # refuses what cannot be, before any work
    trace = max(1, (getattr(learner, "steps", None) or 1) // RECORDS)
    store = values.get("store")
    folder = store_path(None if store is None else Path(store)).absolute().parent / "runs"
    fresh, found, start = bool(values.get("fresh")), [], time.perf_counter()
    with console.Progress(len(specs), f"blocks of up to {specs[0].block} runs") as counter:
        for spec in specs:
            found.append(kept_runs(spec, folder, trace=trace, fresh=fresh))
            counter.advance(seconds=0.0 if found[-1].reused else None)
    reused = sum(each.reused for each in found)
    note = f", {reused} of {len(specs)} blocks reused (--fresh runs them again)" if reused else ""
    return concatenate_runs([each.runs for each in found]), time.perf_counter() - start, note


def _specs(entry: Entry, given: dict[str, Any], runs: int, seed: int) -> list[Any]:
    """The blocks of the command. given: what was typed of problem and learner."""
    from paritylab.learning.contract import fact
    from paritylab.sweep.blocks import learner_of, problem_entries
    from paritylab.sweep.grid import Spec

    defaults = {**DEFAULTS, **entry.trains_on}
    flags = {
        _FRESH_ROWS.replace("-", "_") if name == "fresh" else name: name for name in entry.problem
    }
    problem = {flags[name]: value for name, value in given.items() if name in flags}
    settings = {name: value for name, value in given.items() if name not in flags}
    if "subset" in problem:
        problem["subset"] = _positions(problem["subset"])
    if entry.presets and "preset" in defaults:
        settings.setdefault("preset", defaults["preset"])
    taken = problem_entries(fact(learner_of(Spec.make(entry.name, {}, settings)), "targets"))
    for name in ("n", "k"):
        # A typed k is kept, so that one that contradicts a typed subset is refused.
        if name in taken and not (name == "k" and "subset" in problem):
            problem.setdefault(name, defaults[name])
    if not problem.get("fresh"):
        problem.pop("fresh", None)
    problem |= _rows(learner_of(Spec.make(entry.name, problem, settings)), problem)
    block = min(BLOCK, defaults["runs"])
    return [
        Spec.make(
            entry.name, problem, settings, seed=seed, first=first, block=min(block, runs - first)
        )
        for first in range(0, runs, block)
    ]


def _rows(learner: Any, problem: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of a learner: as many as typed, or its own number; fresh if it takes no others."""
    from paritylab.learning import Fresh, Sample
    from paritylab.learning.contract import fact

    if "samples" in problem:
        return {} if Sample in learner.takes else {"fresh": True}
    samples = None if "fresh" in problem else fact(learner, "default_samples")(problem["n"])
    if samples is None:
        return {}
    return {"samples": samples, **({"fresh": True} if Fresh in learner.takes else {})}


def _positions(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--subset takes positions such as 7,10,17, got {text!r}") from None
