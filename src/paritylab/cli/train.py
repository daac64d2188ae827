"""`paritylab train heads|xor|chain|layers|transformer`: runs, a rate, a figure, a file."""

import inspect
import time
from collections.abc import Callable
from functools import cache
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

#: Entries of a trace, at most; runs of a compiled call, unless a command does fewer by default.
RECORDS, BLOCK = 60, 20
#: Runs of one command, at most: all of them are held in memory. A sweep keeps more on disk.
MOST_RUNS = 1_000_000
#: Where the learners of these commands are defined; their fields become the options.
_SOURCES = (
    *("heads/train", "chain/teacher", "chain/levels"),
    *("chain/full_batch", "chain/layers", "transformer/learner"),
)
_LEARNING = Path(__file__).parent.parent / "learning"
#: Options of every family that say nothing of what is trained.
COMMON = {
    "runs": Option(int, "Random targets and starts.", (Ge(1), Le(MOST_RUNS))),
    "seed": Option(int, "Run i uses fold_in(seed, i)."),
    "figure": Option(Path, "Picture to write: svg, pdf or png; a free name."),
    "save": Option(Path, "Write all runs (.npz); Runs.load reads them."),
    "fresh": Option(bool, "Run again what is kept."),
    "store": Option(Path, "Where finished work is kept."),
}
DEFAULTS = {"runs": 100, "seed": 0, "fresh": False, "store": DEFAULT_STORE}


class Family(NamedTuple):
    """One command: which learner each choice means, and what it trains on.

    chosen_by: the option that chooses; "" if there is one learner. learners: by choice, a name and
    its settings. problem: problem options it takes. defaults: of any option.
    """

    name: str
    help: str
    example: str
    chosen_by: str
    learners: dict[str, tuple[str, dict[str, Any]]]
    problem: tuple[str, ...]
    defaults: dict[str, Any]


def usual_rows(learner: str, n: int) -> dict[str, Any]:
    """The rows of a learner that cannot do without them, where none are asked for."""
    per_bit = {"teacher": 1000 * n, "layers": 200 * n}
    rows = {**per_bit, "levels": 2**18, "full-batch": 100_000, "transformer": 64}
    fresh = {"fresh": True} if learner == "transformer" else {}
    return {"samples": rows[learner], **fresh} if learner in rows else {}


FAMILIES = (
    Family(
        "heads",
        """Train k heads from random directions on hidden parities.

        A run succeeds if its heads end on exactly the hidden set. Finished blocks are kept: the
        same command goes on where it was interrupted.
        """,
        "--n 12 --k 2 --preset code --runs 100",
        "preset",
        {
            "paper": ("heads", {"preset": "paper"}),
            "code": ("heads", {"preset": "code"}),
            "annealed": ("heads", {"preset": "annealed"}),
        },
        ("n", "k", "subset", "noise", "bias", "samples", "fresh-rows"),
        {"n": 12, "k": 2, "preset": "code"},
    ),
    Family(
        "xor",
        """Learn y = -x_i·x_j with two heads in one gradient step, and judge every input.

        A run is solved if ½(ŷ-y)² ≤ 0.01 on all 2^n inputs, decided exactly from its weights. The
        model is our reconstruction of HG2's, from its abstract.
        """,
        "--n 1024 --width 84 --runs 200",
        "",
        {"": ("heads", {"preset": "pair"})},
        ("n", "noise", "samples", "fresh-rows"),
        {"n": 256},
    ),
    Family(
        "chain",
        "Learn k-parity with a chain of thought and count how often every answer is right.",
        "--n 64 --k 32 --runs 5",
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
    ),
    Family(
        "layers",
        """Learn k-parity in log2 k layers, with no chain to be seen when it answers.

        Layer t writes level t of a tree of steps. Our reconstruction of Log-ICoT, from its
        abstract. A run is solved if every fresh input is right.
        """,
        "--n 256 --k 128 --gates learnt",
        "",
        {"": ("layers", {})},
        ("n", "k", "samples"),
        {"n": 64, "k": 32, "runs": 5},
    ),
    Family(
        "transformer",
        """Train an ordinary transformer to write a chain of partial parities and the answer.

        Without --samples every step reads 64 new rows; with it, batches of that many rows, drawn
        once. A run is solved, and stops, once it writes every token right on 98 % of 512 new rows.
        """,
        "--n 16 --k 8 --chain tree",
        "",
        {"": ("transformer", {})},
        ("n", "k", "subset", "samples", "fresh-rows"),
        {"n": 16, "k": 8, "runs": 4},
    ),
)


@cache
def _known() -> dict[str, dict[str, Option]]:
    """Options of every learner, by its name."""
    known: dict[str, dict[str, Option]] = {}
    for source in _SOURCES:
        known |= options_in_source(_LEARNING / f"{source}.py")
    return known


def add_to(parent: typer.Typer) -> None:
    """Register a command for each family."""
    for family in FAMILIES:
        example = f"Example: paritylab train {family.name} {family.example}"
        app.command(family.name, epilog=example)(_command(family))
    parent.add_typer(app, name="train", epilog="Example: paritylab train heads --n 12 --k 2")


def _command(family: Family) -> Callable[..., None]:
    """A command whose options are made from its learners' fields; they reach it as a dict."""

    def command(**values: Any) -> None:
        _train(family, values)

    options = {name: PROBLEM[name.removesuffix("-rows")] for name in family.problem}
    if family.chosen_by:
        options[family.chosen_by] = Option(str, "What trains.", choices=tuple(family.learners))
    for learner, _ in family.learners.values():
        settable = {
            n: each for n, each in _known()[learner].items() if each.choices or not each.own
        }
        options |= {n: each for n, each in settable.items() if n not in {"k", "mode", *options}}
    defaults = DEFAULTS | family.defaults  # None: the learner's own default
    made = [_parameter(n, each, defaults.get(n)) for n, each in (options | COMMON).items()]
    command.__doc__ = inspect.cleandoc(family.help)
    command.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in made}
    return command


def _parameter(name: str, option: Option, default: Any) -> inspect.Parameter:
    """An option of a command, as typer reads it."""
    kind: Any = Literal[option.choices] if option.choices else option.type
    kind = str if option.formula else kind
    kind = kind | None if default is None else kind
    flag = "--" + name.replace("_", "-")
    names = [f"{flag}/--no-{flag[2:]}"] if kind == bool | None else [flag]
    from_environment = "PARITYLAB_STORE" if name == "store" else None
    asked = typer.Option(*names, help=option.help, envvar=from_environment)
    return inspect.Parameter(
        name.replace("-", "_"),
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, asked],
    )


def _train(family: Family, values: dict[str, Any]) -> None:
    """Run, print the table of outcomes, draw, save."""
    check_value("--runs", values["runs"], COMMON["runs"])
    keep_compiled()
    from paritylab.cli import pictures
    from paritylab.report.figures import figure_format

    check_outputs(figure=values["figure"], save=values["save"])
    figure = values["figure"] or _free_name(f"{family.name}.svg")
    figure_format(figure)
    given = {k: v for k, v in values.items() if k not in COMMON and v is not None}
    runs, seconds, reused = _all_blocks(_specs(family, given, values), values)
    described = " ".join(f"{name}={value}" for name, value in given.items())
    console.say(f"{described}: {len(runs)} runs in {seconds:.1f} s{reused}")
    console.print_table(["outcome", "value [95 % interval]"], pictures.outcomes(runs))
    pictures.draw(runs, figure)
    print(f"figure: {figure}")
    if values["save"] is not None:
        print(f"{len(runs)} runs: {runs.save(values['save'])}")


def _all_blocks(specs: list[Any], values: dict[str, Any]) -> tuple[Any, float, str]:
    """All runs of the command, kept or computed, the seconds it took, and what was reused."""
    from paritylab.learning import concatenate_runs
    from paritylab.sweep.blocks import data_of, learner_of
    from paritylab.sweep.runner import kept_runs

    learner = learner_of(specs[0])
    data_of(specs[0], learner)  # refuses what cannot be, before any work
    trace = max(1, (getattr(learner, "steps", None) or 1) // RECORDS)
    folder = values["store"].absolute().parent / "runs"
    found, start = [], time.perf_counter()
    with console.Progress(len(specs), f"blocks of up to {specs[0].block} runs") as counter:
        for spec in specs:
            found.append(kept_runs(spec, folder, trace=trace, fresh=values["fresh"]))
            counter.advance()
    reused = sum(each.reused for each in found)
    note = f", {reused} of {len(specs)} blocks reused (--fresh runs them again)" if reused else ""
    return concatenate_runs([each.runs for each in found]), time.perf_counter() - start, note


def _specs(family: Family, given: dict[str, Any], values: dict[str, Any]) -> list[Any]:
    """The blocks of the command. given: what was asked of problem and learner."""
    from paritylab.sweep.grid import Spec

    learner, settings = family.learners[given.get(family.chosen_by, "")]
    own = {name.replace("-", "_"): name.removesuffix("-rows") for name in family.problem}
    # Not "in (None, False)": 0 equals False, and a 0 has to be refused, not forgotten.
    problem = {own[name]: v for name, v in given.items() if name in own and v is not False}
    if "subset" in problem:
        problem["subset"] = _positions(problem["subset"])
        if problem["k"] == family.defaults["k"]:
            problem.pop("k")
    if "samples" not in problem:
        problem |= usual_rows(learner, problem["n"])
    changed = {n: v for n, v in given.items() if n not in own and n != family.chosen_by}
    for name in changed.keys() - _known()[learner].keys():
        where = [c for c, (each, _) in family.learners.items() if name in _known()[each]]
        flag = name.replace("_", "-")
        raise ValueError(f"--{flag} belongs to --{family.chosen_by} {' or '.join(where)}")
    runs, block = values["runs"], family.defaults.get("runs", BLOCK)
    return [
        Spec.make(
            learner,
            problem,
            {**settings, **changed},
            seed=values["seed"],
            first=first,
            block=min(block, runs - first),
        )
        for first in range(0, runs, block)
    ]


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
