"""`paritylab train xor`: two heads on hidden pairs."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from paritylab.cli import console
from paritylab.cli.check import DEFAULT_STORE, StoreFile
from paritylab.cli.compiled import keep_compiled


def add_to(family: typer.Typer) -> None:
    """Register this module's command."""
    family.command("xor", epilog="Example: paritylab train xor --n 1024 --width 84 --runs 200")(xor)


def xor(
    n: Annotated[int, typer.Option(help="Number of bits.")] = 256,
    width: Annotated[
        int | None, typer.Option(help="Dimension of the positions; 12 ln n if absent.")
    ] = None,
    positions: Annotated[
        Literal["signs", "balanced", "sphere", "onehot", "circle"],
        typer.Option(help="Position code; balanced is ours."),
    ] = "signs",
    attention: Annotated[
        Literal["softmax", "linear", "sigmoid", "exp", "relu"], typer.Option(help="Kind.")
    ] = "softmax",
    readout: Annotated[
        Literal["square", "abs"], typer.Option(help="1 - 2z², or 1 - |2z| by two ReLUs.")
    ] = "square",
    loss: Annotated[
        Literal["squared", "correlation"], typer.Option(help="½(ŷ-y)² or -yŷ.")
    ] = "squared",
    steps: Annotated[int, typer.Option(help="Gradient steps.")] = 1,
    gain: Annotated[
        float | None, typer.Option(help="Step size in units that raise the pair by 1.")
    ] = None,
    optimiser: Annotated[str, typer.Option(help="sgd, adam, normalised, …")] = "sgd",
    start: Annotated[float, typer.Option(help="Standard deviation of the start.")] = 0.0,
    samples: Annotated[
        int | None, typer.Option(help="Rows per step; exact gradients if absent.")
    ] = None,
    noise: Annotated[float, typer.Option(help="Share of flipped labels.")] = 0.0,
    runs: Annotated[int, typer.Option(help="Hidden pairs, in blocks of 20.")] = 100,
    seed: Annotated[int, typer.Option(help="Run i uses fold_in(seed, i).")] = 0,
    figure: Annotated[Path, typer.Option(help="Picture to write: svg, pdf or png.")] = Path(
        "xor.svg"
    ),
    save: Annotated[Path | None, typer.Option(help="Write all trained heads (.npz).")] = None,
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Learn y = -x_i·x_j with two heads in one gradient step, and judge every input.

    A run succeeds if ½(ŷ-y)² ≤ 0.01 on all 2^n inputs, decided exactly from its weights. The model
    is our reconstruction of HG2's, from its abstract.
    """
    keep_compiled(store)
    from paritylab.cli.train import run_blocks
    from paritylab.learning.xor.train import usual_width
    from paritylab.models.positions import WITH_WIDTH
    from paritylab.report.figures import figure_format

    figure_format(figure)
    if width is None and positions in WITH_WIDTH and n > 2:
        width = usual_width(n)
    problem: dict[str, Any] = {"n": n} | ({"noise": noise} if noise else {})
    given = {
        "width": width,
        "positions": positions,
        "attention": attention,
        "readout": readout,
        "loss": loss,
        "steps": steps,
        "gain": gain,
        "optimiser": optimiser,
        "start": start,
        "samples": samples,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    rows, seconds = run_blocks("xor", problem, settings, runs, seed, store)
    _print_rates(rows, seconds, n, given)
    _write_figure(rows, given, figure)
    if save is not None:
        _save(rows, save)


def _print_rates(rows: list[dict], seconds: float, n: int, given: dict) -> None:
    from paritylab.statistics import Rate

    errors = sorted(row["error"] for row in rows if row["error"] is not None)
    worst = f"{errors[-1]:.3g}" if len(errors) == len(rows) else "diverged"
    numbers = 2 * (given["width"] or {"onehot": n, "circle": 2}[given["positions"]])
    described = " ".join(f"{name}={value}" for name, value in given.items() if value is not None)
    console.say(f"n={n} {described}: {len(rows)} runs in {seconds:.1f} s")
    console.print_table(
        ["outcome", "value [95 % interval]"],
        [
            ["pair has the two largest weights", str(Rate.of([row["ranked"] for row in rows]))],
            ["right on every input", str(Rate.of([row["success"] for row in rows]))],
            ["median of the worst |ŷ - y|", f"{errors[len(errors) // 2]:.3g}" if errors else "-"],
            ["largest |ŷ - y| of all runs and inputs", worst],
            ["trained numbers beside n", f"{numbers:,} beside {n:,}"],
        ],
    )


def _write_figure(rows: list[dict], given: dict, path: Path) -> None:
    from paritylab.report.figures import save_figure

    errors = [max(row["error"], 1e-16) for row in rows if row["error"] is not None] or [2.0]
    parts: list[dict[str, Any]] = [
        {
            "kind": "histogram",
            "x": {"label": "worst |ŷ - y| over all inputs", "scale": "log"},
            "y": {"label": "runs"},
            "values": errors,
        }
    ]
    weights = rows[0]["weights"]
    if weights:
        parts.append(
            {
                "kind": "lines",
                "x": {"label": "position"},
                "y": {"label": f"weight after {given['steps']} step(s), first run"},
                "lines": [{"x": list(range(len(weights))), "y": weights, "style": "-"}],
                "marks": [{"axis": "x", "at": at} for at in rows[0]["pair"]],
            }
        )
    save_figure({"kind": "side by side", "parts": parts}, path)
    print(f"figure: {path}")


def _save(rows: list[dict], path: Path) -> None:
    import numpy as np

    from paritylab.sweep.run import Run, save_run

    trained = Run(
        parameters={
            name: np.asarray([row[name] for row in rows]) for name in ("directions", "pair")
        },
        trace={"error": np.asarray([np.nan if r["error"] is None else r["error"] for r in rows])},
    )
    print(f"heads of {len(rows)} runs: {save_run(trained, path)}")
