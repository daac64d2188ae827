"""Phase diagrams from stored rows: maps, contours, theory's lines, impossible cells, tables."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.contour import ContourSet
from tests.cli.running import run

from paritylab.figures import draw, svg
from paritylab.problem import Junta
from paritylab.report import write_report
from paritylab.report.phases import phase_figure, stored_phases, usual_layout
from paritylab.statistics import Rate
from paritylab.sweep import Spec
from paritylab.sweep.blocks import check_memory, data_of, learner_of
from paritylab.sweep.cells import Cell, stored_cells, tidy, varied
from paritylab.sweep.named import (
    EFFORTS,
    NAMED,
    Layout,
    TheoryLine,
    named_sweep,
)

COIN = Path(__file__).parent / "coin.py"
pytestmark = pytest.mark.usefixtures("coin")
GRID = """learner = "coin"
runs = 4
block = 2
[problem]
n = [1, 2, 3]
k = [1, 2]
[settings]
rate = 0.5
"""


def cells(rate, n=(8, 16, 32), k=(1, 2, 3, 4), **more):
    return [
        Cell({"learner": "heads", "n": a, "k": b, **more}, Rate(round(100 * rate(a, b)), 100), True)
        for a in n
        for b in k
    ]


def test_a_map_has_its_contour_theorys_line_and_curves_with_intervals():
    found = cells(lambda n, k: 1.0 if k <= np.log2(n) - 1.5 else 0.0)
    theory = TheoryLine("k = log2(n) - 1.5", lambda values: np.log2(values["n"]) - 1.5)
    series = phase_figure(found, Layout("n", "k", lines=(theory,)), "caption")
    heat, curves = series["parts"]
    (panel,) = heat["panels"]
    assert panel["x_names"] == ["8", "16", "32"]
    assert panel["y_names"] == ["4", "3", "2", "1"]
    assert np.asarray(panel["values"])[:, 0].tolist() == [0.0, 0.0, 0.0, 1.0]
    (line,) = panel["lines"]
    assert (line["label"], line["pen"], panel["level"]) == ("k = log2(n) - 1.5", "theory", 0.5)
    assert line["points"][1] == pytest.approx([1, 4 - 1 - np.log(2.5 / 2) / np.log(1.5) - 1])
    assert len(curves["lines"]) == 3
    assert all(len(each["low"]) == 4 for each in curves["lines"])
    picture = svg(series)
    ElementTree.fromstring(picture)
    assert ">50 %<" in picture
    assert picture.count('stroke-dasharray="10.8,7.2"') == 2  # theory's line, and in the legend


def test_the_contour_lies_where_the_rate_is_one_half():
    found = cells(lambda n, k: {8: 0.0, 16: 0.25 * k, 32: 1.0}[n], k=(1, 3))
    (heat, _) = draw(phase_figure(found, Layout("n", "k"))).axes[:2]
    lines = next(each for each in heat.collections if isinstance(each, ContourSet))
    places = np.concatenate([path.vertices for path in lines.get_paths()])
    top, bottom = places[places[:, 1] == 0.5], places[places[:, 1] == 1.5]
    assert np.allclose(top[:, 0], 0.5 + 2 / 3)  # k = 3, above: 0.75 at n = 16
    assert np.allclose(bottom[:, 0], 1.5 + 1 / 3)  # k = 1: 0.25 at n = 16


def test_a_layout_for_any_grid():
    assert usual_layout(cells(lambda n, k: 0.5)) == Layout("n", "k", ())
    one = [c for c in cells(lambda n, k: 0.5) if c.values["k"] == 2]
    assert usual_layout(one) == Layout("n", panel=(), curve="")
    two = [c._replace(values={**c.values, "mask": m}) for c in one for m in ("token", "level")]
    assert usual_layout(two) == Layout("n", panel=(), curve="mask")
    wide = cells(lambda n, k: 0.5, n=(8, 1024))
    assert usual_layout(wide) == Layout("n", "k", ())
    with pytest.raises(ValueError, match="no number varies"):
        usual_layout(one[:1])
    with pytest.raises(ValueError, match="an entry 'width'; there are: learner, n, k"):
        phase_figure(one, Layout("n", "width"))
    with pytest.raises(ValueError, match="nothing of this sweep"):
        phase_figure([], Layout("n"))


def test_tidy_rows_keep_settings_that_share_a_name_with_a_result():
    (row,) = tidy([Cell({"learner": "coin", "rate": 0.9, "set": (1, 2)}, Rate(3, 4), False)])
    assert (row["rate_setting"], row["rate"], row["runs"]) == (0.9, 0.75, 4)
    assert (row["set"], row["made_by"]) == ("1 2", "other code or machine")
    assert row["low"] < 0.75 < row["high"]


def test_impossible_cells_are_left_out_and_said(elsewhere, capsys):
    (elsewhere / "grid.toml").write_text(GRID)
    shared = ("--store", "c.db")
    code, out, err = run(
        capsys, "sweep", "run", "grid.toml", "--file", str(COIN), "--dry-run", *shared
    )
    assert code == 0
    assert "5 cells, 10 blocks of 2 runs" in out
    assert "left out, since they cannot be: 1, such as k=2 positions among n=1" in err
    code, out, err = run(capsys, "sweep", "run", "grid.toml", "--file", str(COIN), *shared)
    assert code == 0
    assert "10 blocks computed" in err
    code, out, _ = run(capsys, "sweep", "plot", "grid.toml", "--figure", "p.svg", *shared)
    assert code == 0
    assert "5 cells of 4 runs each" in out
    assert "k=2 positions among n=1" in out
    ElementTree.fromstring((elsewhere / "p.svg").read_text())
    assert run(capsys, "sweep", "export", "--csv", "rates.csv", *shared)[0] == 0
    with (elsewhere / "rates.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5
    assert {"learner", "n", "k", "successes", "runs", "rate", "low", "high"} <= set(rows[0])


def test_parquet_columns_have_one_type(tmp_path):
    """tau = 0.1 and tau = "1/n" in one column once made pyarrow refuse the whole table."""
    parquet = pytest.importorskip("pyarrow.parquet")
    from paritylab.cli.sweep import _as_parquet

    made = _as_parquet({"tau": [0.1, "1/n", None], "n": [1, 0.5, None]})
    (tmp_path / "x.parquet").write_bytes(made)
    table = parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert table == {"tau": ["0.1", "1/n", None], "n": [1, 0.5, None]}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("effort", EFFORTS)
def test_named_sweeps_are_sound_and_fit_their_layout(name, effort):
    sweep = named_sweep(name)
    specs = [spec for grid in sweep.grids(effort) for spec in grid.specs()]
    one_each = list({spec.cell: spec for spec in specs}.values())
    for spec in one_each:
        learner = learner_of(spec)
        check_memory(spec, learner)
    smallest = min(one_each, key=lambda spec: dict(spec.problem)["n"])
    data_of(smallest, learner_of(smallest))
    drawn = [
        Cell({"learner": s.learner, **dict(s.problem), **dict(s.settings)}, Rate(1, 2), True)
        for s in one_each
    ]
    series = phase_figure(drawn, sweep.layout)
    assert svg(series)
    lines = {
        line["label"]
        for part in series["parts"]
        for panel in part.get("panels", ())
        for line in panel.get("lines", ())
    }
    if effort != "quick":
        names = {n for n in (sweep.layout.x, sweep.layout.y, sweep.layout.curve) if n}
        assert names <= set(varied(drawn))
        assert {line.label for line in sweep.layout.lines} <= lines


def test_other_codes_runs_stand_in_but_are_never_added():
    def block(mark, first):
        spec = Spec.make("coin", {"n": 1, "k": 1}, {}, block=2, first=first)
        rows = [{"success": True}] * 2
        return {
            "hash": spec.hash,
            "cell": spec.cell,
            "spec": spec.plain(),
            "fingerprint": mark,
            "rows": rows,
        }

    from paritylab.sweep.runner import fingerprint

    mine = fingerprint("coin")
    (cell,) = stored_cells([block("other", 0), block("other", 2), block(mine, 0)])
    assert (cell.rate.runs, cell.current) == (2, True)
    (cell,) = stored_cells([block("other", 0), block("other", 2), block("third", 0)])
    assert (cell.rate.runs, cell.current) == (4, False)


@pytest.mark.parametrize("name", ["majority", "conjunction", "not-all-equal", "staircase"])
def test_a_spec_can_name_a_junta(name):
    spec = Spec.make("one-step", {"n": 8, "k": 3, "target": name}, {}, block=2)
    plain = Spec.make("one-step", {"n": 8, "k": 3}, {}, block=2)
    juntas, parities = (data_of(each, learner_of(each)).targets for each in (spec, plain))
    assert all(isinstance(each, Junta) for each in juntas)
    assert [each.subset for each in juntas] == [each.subset for each in parities]
    made = getattr(Junta, name.replace("-", "_"))
    assert juntas[0] == made(8, parities[0].subset)


@pytest.mark.parametrize(
    ("learner", "problem", "settings"),
    [
        ("heads", {"n": 100_000, "k": 2}, {"heads": 100_000}),
        ("teacher", {"n": 2**21, "k": 2**20, "samples": 1000}, {}),
        ("elimination", {"n": 1000, "k": 2, "samples": 10**10}, {}),
        ("feedforward", {"n": 20, "k": 2}, {"width": 10**9}),
    ],
)
def test_what_no_machine_here_can_do_is_refused_before_it_starts(
    learner, problem, settings, monkeypatch
):
    monkeypatch.setattr("paritylab.sweep.blocks.machine_memory", lambda: 2.0**34)
    spec = Spec.make(learner, problem, settings, block=20)
    with pytest.raises(ValueError, match=r"a block of 20 runs needs about .*smaller"):
        data_of(spec, learner_of(spec))


def test_stored_named_sweeps_appear_in_the_report(elsewhere, capsys, monkeypatch):
    from paritylab.execution import Store
    from paritylab.sweep import run_sweep
    from paritylab.sweep.named import NamedSweep

    problem = {"n": [2, 3], "k": [1, 2]}
    tables = {
        effort: [{"learner": "coin", "problem": problem, "runs": runs, "block": 2}]
        for effort, runs in (("quick", 2), ("default", 4), ("full", 8))
    }
    coins = NamedSweep("Coins", "How coins fall.", Layout("n", "k"), tables)
    monkeypatch.setattr("paritylab.report.phases.NAMED", ["coins"])
    monkeypatch.setattr("paritylab.report.phases.named_sweep", lambda name: coins)
    assert stored_phases(Path("s.db")) == []
    with Store("s.db") as store:
        run_sweep(coins.grids("default")[0].specs(), store)
        run_sweep(list(coins.grids("full")[0].specs())[:12], store)
    (phase,) = stored_phases(Path("s.db"))
    assert phase.command == "paritylab sweep run coins --effort default"
    text = write_report([], elsewhere / "page", [phase]).read_text()
    assert "Phase diagrams" in text
    assert phase.command in text
    assert "How coins fall. 4 cells of 4 runs each." in text
    assert text.count("<svg") == 2
