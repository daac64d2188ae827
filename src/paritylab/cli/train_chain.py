"""`paritylab train chain`: the chain of thought of hidden parities."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from paritylab.cli import console
from paritylab.cli.check import DEFAULT_STORE, StoreFile
from paritylab.cli.compiled import keep_compiled


def add_to(family: typer.Typer) -> None:
    """Register this module's command."""
    example = "Example: paritylab train chain --n 64 --k 32 --runs 5"
    family.command("chain", epilog=example)(chain)


def chain(
    n: Annotated[int, typer.Option(help="Number of bits.")] = 64,
    k: Annotated[int, typer.Option(help="Size of the hidden set: 2, 4, 8, …")] = 32,
    mode: Annotated[
        Literal["teacher", "levels", "direct", "cot", "teacher-full", "selfcheck"],
        typer.Option(help="One step; one level per step; or one of the four published models."),
    ] = "teacher",
    samples: Annotated[
        int | None, typer.Option(help="Rows; 1000n (teacher), 2^18 (levels) or 100,000 if absent.")
    ] = None,
    link: Annotated[
        Literal["cos", "quadratic", "gentle"] | None,
        typer.Option(help="Link function φ; cos, or quadratic for the published models."),
    ] = None,
    eta: Annotated[float | None, typer.Option(help="Step size; chosen from n and k.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Threshold of the filter (levels), between 1 and 2.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Full-batch steps of a published model; 350 if absent.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Hidden trees.")] = 5,
    seed: Annotated[int, typer.Option(help="Run i uses fold_in(seed, i).")] = 0,
    figure: Annotated[Path, typer.Option(help="Picture to write: svg, pdf or png.")] = Path(
        "chain.svg"
    ),
    save: Annotated[
        Path | None, typer.Option(help="Write the first run's scores and leaves (.npz).")
    ] = None,
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Learn k-parity with a chain of thought and count how often every answer is right."""
    keep_compiled(store)
    from paritylab.cli.train import run_blocks
    from paritylab.problem.tree import check_power_of_two
    from paritylab.report.figures import figure_format

    figure_format(figure)
    check_power_of_two(k, n)
    if mode != "levels" and epsilon is not None:
        raise ValueError("--epsilon belongs to --mode levels")
    if mode in ("teacher", "levels") and epochs is not None:
        raise ValueError("--epochs belongs to the four published models")
    usual = {"teacher": 1000 * n, "levels": 2**18}.get(mode, 100_000)
    link = link or ("cos" if mode in ("teacher", "levels") else "quadratic")
    given = {
        "mode": mode,
        "samples": usual if samples is None else samples,
        "link": link,
        "eta": eta,
        "epsilon": epsilon,
        "epochs": epochs,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    rows, seconds = run_blocks("chain", {"n": n, "k": k}, settings, runs, seed, store, width=1)
    described = " ".join(f"{name}={value}" for name, value in settings.items())
    console.say(f"n={n} k={k} {described}: {len(rows)} runs in {seconds:.1f} s")
    console.print_table(["outcome", "value [95 % interval]"], _table(rows, mode))
    _write_figure(rows, n, k, link, mode, figure)
    if save is not None:
        _save(rows[0], save)


def _table(rows: list[dict], mode: str) -> list[list[str]]:
    from paritylab.statistics import Rate

    rate = str(Rate.of([row["success"] for row in rows]))
    if mode == "levels":
        traces = sorted({str(row["levels"]) for row in rows})
        return [
            ["one level per step, all solved", rate],
            ["levels solved after each step", "; ".join(traces)],
            ["loss at the end", ", ".join(f"{row['loss'][-1]:.1e}" for row in rows[:5])],
        ]
    if mode != "teacher":
        epochs = [row["solved_at"] for row in rows]
        return [
            ["prediction loss below 0.01 at the end", rate],
            ["first epoch below 0.01", ", ".join("never" if e is None else str(e) for e in epochs)],
            ["accuracy on 10,000 fresh inputs", ", ".join(f"{r['accuracy']:.3f}" for r in rows)],
        ]
    pairs = min(row["pairs_found"] for row in rows)
    return [
        ["every pair found, every fresh input right", rate],
        ["smallest share of child pairs found", f"{pairs:.3f}"],
        ["smallest accuracy on 10,000 fresh inputs", f"{min(r['accuracy'] for r in rows):.4f}"],
        ["largest |ŷ - y|", f"{max(row['error'] for row in rows):.3g}"],
    ]


def _write_figure(rows: list[dict], n: int, k: int, link: str, mode: str, path: Path) -> None:
    import numpy as np

    from paritylab.models.chain import ChainModel
    from paritylab.models.links import as_link
    from paritylab.problem.tree import ParityTree
    from paritylab.report.figures import save_figure

    row, mask = rows[0], "token" if mode == "teacher" else "level"
    scores = np.asarray(row["scores"], dtype=np.float32)
    tree = ParityTree(n, tuple(row["leaves"]))
    children = [[int(token), node] for node, pair in enumerate(tree.children) for token in pair]
    panels: list[dict[str, Any]] = []
    for title, each in (("before", 0 * scores), ("after", scores)):
        attention = np.asarray(ChainModel(each, n, as_link(link), mask).attention()).T
        panels.append({"title": title, "values": attention, "points": children})
    attention_maps: dict[str, Any] = {
        "kind": "heatmaps",
        "x": {"label": "token attended to"},
        "y": {"label": "inner node"},
        "panels": panels,
    }
    if mode in ("teacher", "levels"):
        save_figure(attention_maps, path)
    else:
        curves = {
            "kind": "lines",
            "x": {"label": "epoch"},
            "y": {"label": "prediction loss of each run"},
            "lines": [
                {"x": [5 * i for i in range(len(r["loss"]))], "y": r["loss"], "style": "-"}
                for r in rows
                if None not in r["loss"]
            ],
        }
        panels.pop(0)
        save_figure({"kind": "side by side", "parts": [curves, attention_maps]}, path)
    print(f"figure: {path} (circles mark the children in the true tree)")


def _save(row: dict, path: Path) -> None:
    import numpy as np

    from paritylab.sweep.run import Run, save_run

    arrays = {name: np.asarray(row[name]) for name in ("scores", "leaves")}
    print(f"chain of the first run: {save_run(Run(parameters=arrays, trace={}), path)}")
