"""`paritylab train`: rates, figures, saved heads, bad input."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.running import run

from paritylab.learning import Runs
from paritylab.risk import enumerated_risk

TINY = ["train", "heads", "--n", "8", "--k", "2", "--steps", "40", "--runs", "25"]


def test_heads_are_trained_counted_drawn_saved_and_reused(capsys, elsewhere):
    code, out, err = run(capsys, *TINY, "--save", "runs.npz")
    assert code == 0
    assert re.search(r"recovered +\d+ of 25, .*\nsolved +\d+ of 25", out)
    assert "25 runs" in err
    assert (elsewhere / "heads.svg").read_text().count("<svg") == 1
    saved = Runs.load(elsewhere / "runs.npz")
    assert saved.numbers.shape == (25, 2, 2)
    assert np.isfinite(saved.trace["risk"]).all()
    # Everything that was trained is in the file: temperature, readout, targets.
    exact = enumerated_risk(saved.model(24), saved.targets[24])
    assert exact.value == pytest.approx(saved.risk[24], abs=1e-9)
    code, again, err = run(capsys, *TINY)
    assert again.splitlines()[:4] == out.splitlines()[:4]  # rates and the median risk
    assert "2 of 2 blocks reused (--fresh runs them again)" in err
    assert (elsewhere / "heads-2.svg").exists()
    assert "reused" not in run(capsys, *TINY, "--fresh")[2]


def test_a_fixed_target_fresh_batches_and_other_settings(capsys, elsewhere):
    code, out, _ = run(
        capsys,
        *TINY,
        "--subset",
        "1,4",
        "--samples",
        "32",
        "--fresh-rows",
        "--tau",
        "n/2",
        "--eta",
        "0.05",
        "--optimiser",
        "sgd",
        "--heads",
        "3",
        "--noise",
        "0.1",
        "--figure",
        "x.png",
    )
    assert code == 0
    assert (elsewhere / "x.png").stat().st_size > 1000
    assert "figure: x.png" in out


TRAINED = [
    (
        "xor --n 64 --positions balanced --width 90 --runs 20",
        (r"solved +20 of 20, 100 % \[84, 100\]", r"numbers, median +180"),
        lambda runs: runs.numbers.shape == (20, 2, 90),
    ),
    (
        "layers --n 20 --k 8 --samples 6000 --runs 2",
        (r"solved +2 of 2, 100 % \[34, 100\]",),
        lambda runs: runs.model(1).layers == 3,
    ),
    (
        "transformer --n 6 --k 2 --runs 2 --width 8 --heads 2 --steps 20 --check 10",
        (r"solved +\d of 2", "rows, median"),
        lambda runs: (runs.data.samples, runs.trace["by_slot"].shape) == (64, (2, 3, 2)),
    ),
    pytest.param(
        "chain --n 32 --k 8 --runs 2 --link quadratic",
        (r"solved +2 of 2, 100 % \[34, 100\]",),
        lambda runs: runs.model(1).scores.shape == (39, 7),
        marks=pytest.mark.slow,
    ),
    pytest.param(
        "chain --n 32 --k 8 --runs 1 --mode levels",
        ("0, 1, 2, 3",),
        lambda runs: runs.solved.all(),
        marks=pytest.mark.slow,
    ),
    pytest.param(
        "chain --n 32 --k 8 --runs 1 --mode direct --samples 500 --steps 10",
        ("never",),
        lambda runs: not runs.solved.any(),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("line", "said", "holds"), TRAINED, ids=range(len(TRAINED)))
def test_learners_are_trained_counted_drawn_and_saved(capsys, elsewhere, line, said, holds):
    name, *rest = line.split()
    code, out, _ = run(capsys, "train", name, *rest, "--save", "runs.npz")
    assert code == 0
    assert all(re.search(words, out) for words in said), out
    assert (elsewhere / f"{name}.svg").read_text().count("<svg") == 1
    assert holds(Runs.load(elsewhere / "runs.npz"))


@pytest.mark.parametrize(
    ("more", "words"),
    [(["--chain", "tree", "--k", "3"], "nearest: 2 and 4"), (["--heads", "3"], "a multiple of")],
)
def test_what_a_transformer_cannot_be_is_one_line(capsys, elsewhere, more, words):
    code, _, err = run(capsys, "train", "transformer", "--n", "6", "--k", "2", *more)
    assert code == 2
    assert words in err


MODES = [
    *(("heads", "--preset", preset, "--n", "40") for preset in ("paper", "code", "anneal")),
    ("xor", "--n", "4096", "--runs", "20000"),
    *(
        ("chain", "--mode", mode, "--runs", "20")
        for mode in ("teacher", "levels", "direct", "cot", "teacher-full", "selfcheck")
    ),
    ("layers", "--runs", "20"),
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: "-".join(mode[:3]))
def test_every_mode_soon_says_a_word_and_ends_at_once_when_interrupted(mode, elsewhere):
    """A compiled loop may run for minutes, and jax would wait for it at exit or break on it."""
    command = [sys.executable, "-m", "paritylab", "train", *mode]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        words = iter(process.stderr.readline, b"")
        first = next(words).decode()
        assert re.search(r"loading|at work for [12] s", first)
        assert any(b"at work for" in line for line in words)
        process.send_signal(signal.SIGINT)
        try:
            *_, last = process.communicate(timeout=20)[1].splitlines()
        finally:
            process.kill()
    assert process.returncode == 130
    assert last.decode().startswith("paritylab: interrupted; finished work is saved")
