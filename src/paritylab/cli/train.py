"""`paritylab train`: many runs, a rate with its interval, a figure. Here: `train heads`."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from paritylab.cli import console
from paritylab.cli.check import DEFAULT_STORE, StoreFile
from paritylab.cli.compiled import keep_compiled

app = typer.Typer(
    help="Train a model many times and say how often it succeeds.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

#: Runs that share one compiled call: enough to be efficient, few enough to show progress.
WIDTH = 20


@app.callback()
def _family() -> None:
    """Train a model many times and say how often it succeeds."""


def add_to(parent: typer.Typer) -> None:
    """Register this module's commands."""
    from paritylab.cli import train_chain, train_xor

    train_xor.add_to(app)
    train_chain.add_to(app)
    parent.add_typer(app, name="train", epilog="Example: paritylab train heads --n 12 --k 2")


@app.command("heads", epilog="Example: paritylab train heads --n 12 --k 2 --preset code --runs 100")
def heads(
    n: Annotated[int, typer.Option(help="Number of bits.")] = 12,
    k: Annotated[int, typer.Option(help="Size of the hidden set.")] = 2,
    preset: Annotated[str, typer.Option(help="paper, code or anneal (ours).")] = "code",
    runs: Annotated[int, typer.Option(help="Random starts, rounded up to blocks of 20.")] = 100,
    subset: Annotated[
        str | None, typer.Option(help="One target for all runs, such as 7,10,17; random if absent.")
    ] = None,
    heads: Annotated[int | None, typer.Option(help="Number of heads; k if absent.")] = None,
    tau: Annotated[
        str | None, typer.Option(help='Temperature: a number, "1/n", "1/n^2", "n/4".')
    ] = None,
    eta: Annotated[float | None, typer.Option(help="Step size.")] = None,
    optimiser: Annotated[str | None, typer.Option(help="sgd, adam, momentum, …")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps per run.")] = None,
    samples: Annotated[
        int | None, typer.Option(help="Train on fresh batches of this size instead of exactly.")
    ] = None,
    restarts: Annotated[
        int | None, typer.Option(help="Further starts of a run that knows it failed (anneal).")
    ] = None,
    noise: Annotated[float, typer.Option(help="Share of flipped labels.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Run i uses fold_in(seed, i).")] = 0,
    figure: Annotated[Path, typer.Option(help="Picture to write: svg, pdf or png.")] = Path(
        "heads.svg"
    ),
    save: Annotated[Path | None, typer.Option(help="Write all trained heads (.npz).")] = None,
    figure2: Annotated[
        bool, typer.Option("--figure2", help="Redo Figure 2 of the paper; ignores other settings.")
    ] = False,
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Train k heads from random angles on hidden parities, with exact gradients.

    A run succeeds if its heads end on exactly the hidden set. Finished blocks are kept: the same
    command goes on where it was interrupted.
    """
    keep_compiled(store)
    from paritylab.report.figures import figure_format

    figure_format(figure)
    if figure2:
        _figure2(figure)
        return
    problem: dict[str, Any] = {"n": n, "k": k} | ({"noise": noise} if noise else {})
    if subset is not None:
        problem["subset"] = _positions(subset)
        problem["k"] = len(problem["subset"])
    settings: dict[str, Any] = {"preset": preset} | {
        name: value
        for name, value in (
            ("heads", heads),
            ("tau", tau),
            ("rate", eta),
            ("optimiser", optimiser),
            ("steps", steps),
            ("samples", samples),
            ("restarts", restarts),
        )
        if value is not None
    }
    if samples is not None and preset != "anneal":
        settings["data"] = "fresh"
    rows, seconds = run_blocks("heads", problem, settings, runs, seed, store)
    _print_rates(rows, seconds, problem, settings)
    _write_figure(rows, n, settings, figure)
    if save is not None:
        _save(rows, save)


def _positions(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--subset takes positions such as 7,10,17, got {text!r}") from None


def run_blocks(
    learner: str,
    problem: dict,
    settings: dict,
    runs: int,
    seed: int,
    store: Path,
    width: int = WIDTH,
) -> tuple[list[dict], float]:
    """All blocks of the command, from the store or computed, and the seconds of computing."""
    from paritylab.sweep import Spec, open_store, run_sweep
    from paritylab.sweep.runner import block_key

    if runs < 1:
        raise ValueError(f"--runs must be at least 1, got {runs}")
    blocks = range(-(-runs // width))
    specs = [
        Spec.make(learner, problem, settings, seed=seed, width=width, block=block)
        for block in blocks
    ]
    with (
        open_store(store) as opened,
        console.Counter("runs" if width == 1 else f"blocks of {width} runs", len(specs)) as counter,
    ):
        start = time.perf_counter()
        run_sweep(specs, opened, on_block=lambda spec, fresh: counter.advance())
        seconds = time.perf_counter() - start
        wanted = {block_key(spec) for spec in specs}
        blocks_found = [block for block in opened.blocks() if block["key"] in wanted]
    return [row for block in blocks_found for row in block["rows"]][:runs], seconds


def _print_rates(rows: list[dict], seconds: float, problem: dict, settings: dict) -> None:
    from paritylab.statistics import Rate

    found, solved = (Rate.of([row[name] for row in rows]) for name in ("success", "solved"))
    risks = sorted(row["risk"] for row in rows if row["risk"] is not None)
    described = " ".join(f"{name}={value}" for name, value in (problem | settings).items())
    console.say(f"{described}: {len(rows)} runs in {seconds:.1f} s, population risk at the end")
    console.print_table(
        ["outcome", "rate [95 % interval]"],
        [
            ["heads on exactly the hidden set", str(found)],
            ["risk below 0.05 (anneal: correlation above 0.95)", str(solved)],
            ["median risk", f"{risks[len(risks) // 2]:.4g}" if risks else "diverged"],
        ],
    )


def _write_figure(rows: list[dict], n: int, settings: dict, path: Path) -> None:
    from paritylab.learning import Annealing, Procedure, preset, temperature
    from paritylab.models import Circle, HeadAttention, Zigzag
    from paritylab.precision import float64
    from paritylab.report.figures import save_figure

    if settings["preset"] == "anneal":
        procedure = Procedure(tau=0.5 / n**2, steps=Annealing().steps)
    else:
        procedure = preset(settings["preset"], n)
    steps = settings.get("steps", procedure.steps)
    shown = next((row for row in rows if row["success"]), rows[0])
    tau = temperature(settings.get("tau", procedure.tau), n)
    k = len(shown["subset"])
    model = HeadAttention(_array(shown["directions"]), Circle(n), k, Zigzag(k), tau)
    with float64():
        attention = _array(model.attention())
    stride = steps // len(shown["trace"])
    lines = [
        {"x": [stride * i for i in range(len(row["trace"]))], "y": row["trace"], "style": "-"}
        for row in rows[:60]
        if None not in row["trace"]
    ]
    risks = {
        "kind": "lines",
        "x": {"label": "step"},
        "y": {"label": _risk_label(settings)},
        "lines": lines,
    }
    heat = {
        "kind": "heatmaps",
        "x": {"label": "position"},
        "y": {"label": "head"},
        "panels": [
            {
                "title": f"a run that {'found' if shown['success'] else 'missed'} "
                f"B = {{{', '.join(map(str, shown['subset']))}}}",
                "values": attention,
                "marks": shown["subset"],
            }
        ],
    }
    save_figure({"kind": "side by side", "parts": [risks, heat]}, path)
    print(f"figure: {path}")


def _risk_label(settings: dict) -> str:
    if settings["preset"] == "anneal":
        return "-log of each run's correlation"
    return "batch risk of each run" if "samples" in settings else "exact risk of each run"


def _array(values):
    import numpy as np

    return np.asarray(values, dtype=float)


def _save(rows: list[dict], path: Path) -> None:
    from paritylab.sweep.run import Run, save_run

    trained = Run(
        parameters={name: _array([row[name] for row in rows]) for name in ("directions", "subset")},
        trace={"risk": _array([[v or float("nan") for v in row["trace"]] for row in rows]).T},
    )
    print(f"heads of {len(rows)} runs: {save_run(trained, path)}")


def _figure2(path: Path) -> None:
    from paritylab.claims.hg1.training_heads import figure2_runs, figure2_series
    from paritylab.report.figures import save_figure

    console.say("n = 20, k = 3, Adam 0.2, tau = n/4 = 5, 2000 exact steps, 2 × 16 runs: about 30 s")
    series = figure2_series(*figure2_runs(16))
    save_figure(series, path)
    print(series["caption"])
    print(f"figure: {path}")
