"""`xorfind table` and `apply`, and every example of the how-to page."""

import gzip
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tables

from xorfind.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "table.md").read_text()
EXAMPLES = re.findall(r"```sh\n(xorfind .*?)\n```\n\n```text\n(.*?)```", PAGE, re.S)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def without_times(text):
    """All but what depends on the machine, and on how far it came before a budget ended."""
    own = ["  searched: "]
    if "the budget" in text:
        own += ["  the best set", "  not searched"]
        text = text.replace("within the budget", "before the budget ended")
    return [line for line in text.splitlines() if not line.startswith(tuple(own))]


def test_every_example_of_the_page(capsys, elsewhere):
    (setup,) = re.findall(r"```sh\npython - <<'END'\n(.*?)END\n```", PAGE, re.S)
    exec(compile(setup, "page", "exec"), {})
    assert len(EXAMPLES) == 12
    for command, shown in EXAMPLES:
        code, out, _ = run(capsys, *shlex.split(command)[1:])
        assert code == (3 if shown.startswith(("no parity", "related")) else 0), command
        assert without_times(out) == without_times(shown), command


@pytest.fixture
def small(elsewhere):
    table = tables.planted(8, 2, 120, seed=1)
    table.write("t.csv")
    return SimpleNamespace(table=table, folder=elsewhere)


def test_json_rule_and_apply(capsys, small):
    outputs = ["--json", "all.json", "--save", "rule.json"]
    code, out, err = run(capsys, "table", "t.csv", "--target", "y", *outputs)
    assert code == 0
    assert "rule: rule.json" in err
    everything = json.loads((small.folder / "all.json").read_text())
    assert everything["rows"] == 120
    (rule,) = everything["rules"]
    assert rule == json.loads((small.folder / "rule.json").read_text())
    assert tuple(each["column"] for each in rule["columns"]) == small.table.truth.subset
    assert rule["words"] in out
    code, out, _ = run(capsys, "apply", "rule.json", "t.csv", "--out", "p.tsv")
    assert code == 0
    assert out == "120 rows, y as predicted in 100 % of 120: p.tsv\n"
    lines = (small.folder / "p.tsv").read_text().splitlines()
    assert lines[0].endswith("y\tpredicted")
    assert all(line.split("\t")[-1] == line.split("\t")[-2] for line in lines[1:])


def test_standard_input_and_output(capsys, small, monkeypatch):
    data = gzip.compress((small.folder / "t.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    code, out, _ = run(capsys, "table", "-", "--target", "y", "--json", "-", "--save", "r.json")
    assert code == 0
    assert json.loads(out)["rules"][0]["found"]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    code, out, err = run(capsys, "apply", "r.json", "-")
    assert code == 0
    assert out.splitlines()[0] == "x0,x1,x2,x3,x4,x5,x6,x7,y,predicted"
    assert "as predicted in 100 %" in err


def test_apply_tells_missing_columns_cells_and_unknown_targets(capsys, small):
    run(capsys, "table", "t.csv", "--target", "y", "--save", "r.json")
    a, b = small.table.truth.subset
    (small.folder / "new.csv").write_text(f"{a},{b},=note\n1,0,-3\n,1,@x\n1,1,-a\n")
    code, out, err = run(capsys, "apply", "r.json", "new.csv")
    assert code == 0
    assert out == f"{a},{b},'=note,predicted\n1,0,-3,1\n,1,'@x,\n1,1,'-a,0\n"
    assert "1 without prediction for a missing value" in err
    (small.folder / "new.csv").write_text("other\n1\n")
    code, _, err = run(capsys, "apply", "r.json", "new.csv", "--out", "o.csv")
    assert code == 2
    assert f"the table lacks {a}, {b}" in err
    assert not (small.folder / "o.csv").exists()
    (small.folder / "new.csv").write_text(f"{a},{b},predicted\n1,1,1\n")
    assert "already has a column 'predicted'" in run(capsys, "apply", "r.json", "new.csv")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "z"], "no column 'z'"),
        (["--target", "y", "--k", "0"], "k must be at least 1"),
        (["--target", "y", "--save", "none/r.json"], "--save needs a file"),
        (["--target", "y", "--json", "."], "--json needs a file"),
        (["--target", "y", "--missing", "guess"], "--missing"),
        (["--target", "y", "--group", "whom"], "--group: no column 'whom'"),
        (
            ["--target", "y", "--by", "x"],
            "unrecognized arguments: --by x (xorfind --help explains)",
        ),
        ([], "--target"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(capsys, small, arguments, message):
    code, out, err = run(capsys, "table", "t.csv", *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_help_has_an_example_and_imports_little():
    code = """
import sys
from xorfind.cli import main
try:
    main([sys.argv[1], "--help"])
except SystemExit:
    pass
heavy = {"jax", "matplotlib", "scipy", "sklearn", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
    for command in ("table", "bits", "apply"):
        shown = subprocess.run(
            [sys.executable, "-c", code, command], capture_output=True, text=True, check=True
        )
        assert f"Example: xorfind {command} " in shown.stdout


def test_a_terminal_without_the_characters_is_no_error(small, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    with pytest.raises(SystemExit) as stopped:
        main(["table", "t.csv", "--target", "y"])
    assert stopped.value.code == 0
    assert b"##########" in written.getvalue()


def test_only_a_parity_that_explains_every_target_exits_with_0(capsys, elsewhere):
    generator = np.random.default_rng(0)
    columns = {f"x{at}": generator.integers(0, 2, 800) for at in range(8)}
    columns["parity"] = columns["x0"] ^ columns["x1"] ^ (generator.random(800) < 0.1)
    columns["both"] = columns["x2"] & columns["x3"]
    columns["luck"] = generator.integers(0, 2, 800)
    tables.Planted(columns, ()).write("t.csv")
    code, out, _ = run(capsys, "table", "t.csv", "--target", "parity")
    assert code == 0
    assert out.startswith("parity tends to be 1 when an odd number of {x0, x1} are true: in ")
    code, out, err = run(capsys, "table", "t.csv", "--target", "luck", "--save", "r.json")
    assert (code, out.splitlines()[0]) == (3, "no parity found for luck")
    assert "nothing found, so r.json was not written" in err
    assert not (elsewhere / "r.json").exists()
    targets = ["--target", "parity", "--target", "both"]
    code, _, err = run(capsys, "table", "t.csv", *targets, "--save", "r.json")
    assert (code, "--save writes one rule" in err) == (2, True)
    code, out, _ = run(capsys, "table", "t.csv", *targets, "--json", "-")
    assert code == 3
    first, second = json.loads(out)["rules"]
    assert (first["found"], second["found"]) == (True, False)
    assert second["words"].startswith("related, but not only: ")
    assert second["answer"]["form"]["better"]["columns"] == ["x2", "x3"]


@pytest.mark.parametrize("out", ["rows.csv", "./rows.csv", "rule.json"])
def test_apply_never_overwrites_what_it_reads(capsys, elsewhere, out):
    coding = {"false": "0", "true": "1"}
    rule = {
        "paritylab": "rule",
        "version": 2,
        "target": {"column": "y", **coding},
        "columns": [{"column": "a", **coding}],
        "true_when": "odd",
    }
    (elsewhere / "rule.json").write_text(json.dumps(rule))
    (elsewhere / "rows.csv").write_text("a,y\n0,0\n1,1\n")
    code, _, err = run(capsys, "apply", "rule.json", "rows.csv", "--out", out)
    assert (code, "name another file" in err) == (2, True)
    assert (elsewhere / "rows.csv").read_text() == "a,y\n0,0\n1,1\n"
    assert json.loads((elsewhere / "rule.json").read_text()) == rule
