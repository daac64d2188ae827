"""`paritylab train heads|xor|chain|layers|transformer`: runs, a rate, a figure, a file."""

import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from paritylab.cli import console
from paritylab.cli.compiled import keep_compiled
from paritylab.cli.options import DEFAULT_STORE, check_outputs
from paritylab.options import PROBLEM, Ge, Le, Option, check_value, options_in_source

app = typer.Typer(
    help="Train a model many times and say how often it succeeds.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

#: Entries of a trace, at most.
RECORDS = 60
#: Runs of one command, at most: all of them are held in memory. A sweep keeps more on disk.
MOST_RUNS = 1_000_000
#: Where the learners of these commands are defined; their fields become the options.
_SOURCES = (
    "heads/train",
    "heads/anneal",
    "xor/train",
    "chain/teacher",
    "chain/levels",
    "chain/full_batch",
    "chain/layers",
    "transformer/learner",
)
_LEARNING = Path(__file__).parent.parent / "learning"


def parameter(name: str, kind: Any, default: Any, text: str) -> inspect.Parameter:
    """One option of a command. kind: a type, or an `Option`."""
    if isinstance(kind, Option):
        chosen: Any = Literal[kind.choices] if kind.choices else kind.type
        chosen = str if kind.formula else chosen
        kind = chosen if default is not None else chosen | None
    flag = "--" + name.replace("_", "-")
    names = [f"{flag}/--no-{flag[2:]}"] if kind == bool | None else [flag]
    from_environment = "PARITYLAB_STORE" if name == "store" else None
    return inspect.Parameter(
        name.replace("-", "_"),
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(*names, help=text, envvar=from_environment)],
    )


def _add_command(
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


_COMMON = [
    parameter("runs", int, 100, "Random targets and starts."),
    parameter("seed", int, 0, "Run i uses fold_in(seed, i)."),
    parameter("figure", Path | None, None, "Picture to write: svg, pdf or png; a free name."),
    parameter("save", Path | None, None, "Write all runs (.npz); Runs.load reads them."),
    parameter("fresh", bool, False, "Run again what is kept."),
]
_STORE = parameter("store", Path, DEFAULT_STORE, "Where finished work is kept.")


#: Options of every learner, by its name.
_Known = dict[str, dict[str, Option]]


class Family(NamedTuple):
    """One command: which learner each choice means, and what it trains on.

    chosen_by: the option that chooses. learners: its values, each the learner's name and preset
    (or mode). problem: problem options it takes. block: runs per compiled call.
    """

    name: str
    chosen_by: str
    learners: dict[str, tuple[str, dict[str, Any]]]
    problem: tuple[str, ...]
    defaults: dict[str, Any]
    block: int


HEADS = Family(
    "heads",
    "preset",
    {
        "paper": ("heads", {"preset": "paper"}),
        "code": ("heads", {"preset": "code"}),
        "anneal": ("anneal", {}),
    },
    ("n", "k", "subset", "noise", "bias", "samples", "fresh-rows"),
    {"n": 12, "k": 2, "preset": "code"},
    20,
)
XOR = Family("xor", "", {"": ("xor", {})}, ("n", "noise", "samples", "fresh-rows"), {"n": 256}, 20)
CHAIN = Family(
    "chain",
    "mode",
    {
        "teacher": ("teacher", {}),
        "levels": ("levels", {}),
        **{
            mode: ("full-batch", {"mode": mode})
            for mode in ("direct", "cot", "teacher-full", "selfcheck")
        },
    },
    ("n", "k", "samples"),
    {"n": 64, "k": 32, "mode": "teacher", "runs": 5},
    5,
)
LAYERS = Family(
    "layers",
    "",
    {"": ("layers", {})},
    ("n", "k", "samples"),
    {"n": 64, "k": 32, "runs": 5},
    5,
)
TRANSFORMER = Family(
    "transformer",
    "",
    {"": ("transformer", {})},
    ("n", "k", "subset", "samples", "fresh-rows"),
    {"n": 16, "k": 8, "runs": 4},
    4,
)
#: New rows per step of a transformer if no sample is asked for.
_BATCH = 64
#: Rows per bit if none are asked for.
_ROWS_PER_BIT = {"teacher": 1000, "layers": 200}


def add_to(parent: typer.Typer) -> None:
    """Register this module's commands."""
    known: _Known = {}
    for source in _SOURCES:
        known |= options_in_source(_LEARNING / f"{source}.py")
    for family, text, example in (
        (HEADS, _HEADS, "paritylab train heads --n 12 --k 2 --preset code --runs 100"),
        (XOR, _XOR, "paritylab train xor --n 1024 --width 84 --runs 200"),
        (CHAIN, _CHAIN, "paritylab train chain --n 64 --k 32 --runs 5"),
        (LAYERS, _LAYERS, "paritylab train layers --n 256 --k 128 --gates learnt"),
        (TRANSFORMER, _TRANSFORMER, "paritylab train transformer --n 16 --k 8 --chain tree"),
    ):
        _add_command(family.name, _options(family, known), _runner(family, known), text, example)
    parent.add_typer(app, name="train", epilog="Example: paritylab train heads --n 12 --k 2")


_HEADS = """Train k heads from random directions on hidden parities.

A run succeeds if its heads end on exactly the hidden set. Finished blocks are kept: the same
command goes on where it was interrupted.
"""
_XOR = """Learn y = -x_i·x_j with two heads in one gradient step, and judge every input.

A run is solved if ½(ŷ-y)² ≤ 0.01 on all 2^n inputs, decided exactly from its weights. The model is
our reconstruction of HG2's, from its abstract.
"""
_CHAIN = """Learn k-parity with a chain of thought and count how often every answer is right."""
_LAYERS = """Learn k-parity in log2 k layers, with no chain to be seen when it answers.

Layer t writes level t of a tree of steps. Our reconstruction of Log-ICoT, from its abstract. A run
is solved if every fresh input is right.
"""
_TRANSFORMER = """Train an ordinary transformer to write a chain of partial parities and the answer.

Without --samples every step reads 64 new rows; with it, batches of that many rows drawn once. A run
is solved, and stops, once it writes every token right on 98 % of 512 fresh rows.
"""


def _options(family: Family, known: _Known) -> list[inspect.Parameter]:
    """The command's options: its problem, every setting of its learners, the common ones."""
    made = []
    for name in family.problem:
        option = PROBLEM["fresh"] if name == "fresh-rows" else PROBLEM[name]
        made.append(parameter(name, option, family.defaults.get(name), option.help))
    if family.chosen_by:
        choices = Literal[tuple(family.learners)]  # type: ignore[valid-type]
        default = family.defaults[family.chosen_by]
        made.append(parameter(family.chosen_by, choices, default, "What trains, and how."))
    learners = dict.fromkeys(name for name, _ in family.learners.values())
    table = {k: v for name in reversed(list(learners)) for k, v in known[name].items()}
    taken = {each.name for each in made} | {"k", "mode"}
    made += [
        parameter(name, option, None, option.help)  # absent means the learner's own default
        for name, option in table.items()
        if name not in taken and (option.choices or not option.own)
    ]
    common = [each for each in _COMMON if each.name not in family.defaults]
    made += common
    if "runs" in family.defaults:
        made.append(parameter("runs", int, family.defaults["runs"], "Random targets."))
    return [*made, _STORE]


def _runner(family: Family, known: _Known) -> Callable[[dict[str, Any]], None]:
    def run(values: dict[str, Any]) -> None:
        check_value("--runs", values["runs"], Option(int, "", (Ge(1), Le(MOST_RUNS))))
        with console.patience("loading"):
            keep_compiled()
            from paritylab.cli import pictures
            from paritylab.report.figures import figure_format
            from paritylab.sweep import runner  # noqa: F401  the part that takes time

        outputs = {name: values.pop(name) for name in ("figure", "save")}
        check_outputs(**outputs)
        figure = outputs["figure"] or _free_name(f"{family.name}.svg")
        figure_format(figure)
        runs, seconds, reused = _all_blocks(family, known, values)
        described = " ".join(f"{name}={value}" for name, value in _given(family, values).items())
        console.say(f"{described}: {len(runs)} runs in {seconds:.1f} s{reused}")
        console.print_table(["outcome", "value [95 % interval]"], pictures.outcomes(runs))
        pictures.draw(runs, figure)
        print(f"figure: {figure}")
        if outputs["save"] is not None:
            print(f"{len(runs)} runs: {runs.save(outputs['save'])}")

    return run


def _given(family: Family, values: dict[str, Any]) -> dict[str, Any]:
    """What the user asked for, without what only steers the command."""
    steering = {"runs", "seed", "fresh", "store"}
    return {
        name: value for name, value in values.items() if name not in steering and value is not None
    }


def _all_blocks(family: Family, known: _Known, values: dict[str, Any]) -> tuple[Any, float, str]:
    """All runs of the command, kept or computed, the seconds it took, and what was reused."""
    from paritylab.learning import concatenate_runs
    from paritylab.sweep.runner import kept_runs

    specs, trace = _specs(family, known, values)
    folder = values["store"].absolute().parent / "runs"
    parts, reused, start = [], 0, time.perf_counter()
    with console.Progress(len(specs), f"blocks of up to {family.block} runs") as counter:
        for spec in specs:
            found = kept_runs(spec, folder, trace=trace, fresh=values["fresh"])
            parts.append(found.runs)
            reused += found.reused
            counter.advance()
    note = f", {reused} of {len(specs)} blocks reused (--fresh runs them again)" if reused else ""
    return concatenate_runs(parts), time.perf_counter() - start, note


def _specs(family: Family, known: _Known, values: dict[str, Any]) -> tuple[list[Any], int]:
    from paritylab.sweep.blocks import data_of, learner_of
    from paritylab.sweep.grid import Spec

    given = _given(family, values)
    choice = given.pop(family.chosen_by, "")
    learner, settings = family.learners[choice]
    problem: dict[str, Any] = {
        name.removesuffix("-rows"): given.pop(name.replace("-", "_"), None)
        for name in family.problem
    }
    if problem.get("subset") is not None:
        problem["subset"] = _positions(problem["subset"])
        if problem["k"] == family.defaults["k"]:
            problem["k"] = None
    # Not "in (None, False)": 0 equals False, and a 0 has to be refused, not forgotten.
    problem = {k: v for k, v in problem.items() if v is not None and v is not False}
    if family in (CHAIN, LAYERS):
        usual = 2**18 if learner == "levels" else 100_000
        if learner in _ROWS_PER_BIT:
            usual = _ROWS_PER_BIT[learner] * problem["n"]
        problem.setdefault("samples", usual)
    if family is TRANSFORMER and "samples" not in problem:
        problem |= {"samples": _BATCH, "fresh": True}
    for name in given:
        if name not in known[learner]:
            where = [c for c, (each, _) in family.learners.items() if name in known[each]]
            raise ValueError(
                f"--{name.replace('_', '-')} belongs to --{family.chosen_by} {' or '.join(where)}"
            )
    sizes = [
        min(family.block, values["runs"] - at) for at in range(0, values["runs"], family.block)
    ]
    specs = [
        Spec.make(
            learner,
            problem,
            {**settings, **given},
            seed=values["seed"],
            block=size,
            first=at * family.block,
        )
        for at, size in enumerate(sizes)
    ]
    built = learner_of(specs[0])
    data_of(specs[0], built)
    return specs, max(1, (getattr(built, "steps", None) or 1) // RECORDS)


def _positions(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--subset takes positions such as 7,10,17, got {text!r}") from None


def _free_name(name: str) -> Path:
    """The name, or the first of name-2, name-3, … that is not taken."""
    path, number = Path(name), 2
    while path.exists():
        path, number = Path(name).with_stem(f"{Path(name).stem}-{number}"), number + 1
    return path
