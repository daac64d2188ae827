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


def test_xor_is_learned_counted_drawn_and_saved(capsys, elsewhere):
    command = ["train", "xor", "--n", "64", "--positions", "balanced", "--width", "90"]
    code, out, err = run(capsys, *command, "--runs", "20", "--save", "xor.npz")
    assert code == 0
    assert re.search(r"solved +20 of 20, 100 % \[84, 100\]", out)
    assert re.search(r"numbers, median +180", out)
    assert "20 runs" in err
    assert (elsewhere / "xor.svg").read_text().count("<svg") == 1
    assert Runs.load(elsewhere / "xor.npz").numbers.shape == (20, 2, 90)


@pytest.mark.slow
def test_chains_are_learned_counted_drawn_and_saved(capsys, elsewhere):
    command = ["train", "chain", "--n", "32", "--k", "8", "--runs", "2"]
    code, out, _ = run(capsys, *command, "--link", "quadratic", "--save", "chain.npz")
    assert code == 0
    assert re.search(r"solved +2 of 2, 100 % \[34, 100\]", out)
    assert (elsewhere / "chain.svg").read_text().count("<svg") == 1
    assert Runs.load(elsewhere / "chain.npz").model(1).scores.shape == (39, 7)
    code, out, _ = run(capsys, *command, "--mode", "levels", "--runs", "1", "--figure", "l.png")
    assert code == 0
    assert "0, 1, 2, 3" in out
    code, out, _ = run(
        capsys, *command, "--mode", "direct", "--samples", "500", "--steps", "10", "--runs", "1"
    )
    assert code == 0
    assert "never" in out


def test_layers_are_learned_counted_drawn_and_saved(capsys, elsewhere):
    command = ["train", "layers", "--n", "20", "--k", "8", "--samples", "6000", "--runs", "2"]
    code, out, _ = run(capsys, *command, "--save", "layers.npz")
    assert code == 0
    assert re.search(r"solved +2 of 2, 100 % \[34, 100\]", out)
    assert (elsewhere / "layers.svg").read_text().count("<svg") == 1
    assert Runs.load(elsewhere / "layers.npz").model(1).layers == 3


def test_a_transformer_is_trained_counted_drawn_and_saved(capsys, elsewhere):
    command = ["train", "transformer", "--n", "6", "--k", "2", "--runs", "2", "--width", "8"]
    command += ["--heads", "2", "--steps", "20", "--check", "10"]
    code, out, _ = run(capsys, *command, "--save", "runs.npz")
    assert code == 0
    assert re.search(r"solved +\d of 2", out)
    assert "rows, median" in out
    assert "recovered" not in out
    assert (elsewhere / "transformer.svg").read_text().count("<svg") == 1
    saved = Runs.load(elsewhere / "runs.npz")
    assert (saved.data.samples, type(saved.data).__name__) == (64, "Fresh")
    assert saved.trace["by_slot"].shape == (2, 3, 2)
    code, _, err = run(capsys, *command, "--chain", "tree", "--k", "3")
    assert code == 2
    assert "nearest: 2 and 4" in err
    code, _, err = run(capsys, *command, "--heads", "3")
    assert code == 2
    assert "width must be a multiple of heads=3" in err


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
