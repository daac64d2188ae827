"""`paritylab train`: rates, figures, saved runs, and an end at once when interrupted."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.running import refused, run

from paritylab.learning import Runs
from paritylab.risk import enumerated_risk

TINY = "heads --n 8 --k 2 --steps 40 --runs 25"
TRANSFORMER = "transformer --n 6 --k 2 --runs 2 --width 8 --heads 2 --steps 20 --check 10"


def test_heads_are_trained_counted_drawn_saved_and_reused(capsys, elsewhere):
    command = ["train", *TINY.split()]
    code, out, err = run(capsys, *command, "--save", "runs.npz")
    assert code == 0
    assert re.search(r"\d+ of 25, .*\n.*\d+ of 25, ", out)
    assert "25 runs" in err
    assert [path.name for path in elsewhere.iterdir()] == ["runs.npz"]
    saved = Runs.load(elsewhere / "runs.npz")
    assert np.isfinite(saved.trace["risk"]).all()
    # Everything that was trained is in the file: temperature, readout, targets.
    exact = enumerated_risk(saved.model(24), saved.targets[24])
    assert exact.value == pytest.approx(saved.risk[24], abs=1e-9)
    _, again, err = run(capsys, *command)
    assert again.splitlines()[:4] == out.splitlines()[:4]
    assert "2 of 2 blocks reused (--fresh runs them again)" in err
    assert "reused" not in run(capsys, *command, "--fresh")[2]


#: What is trained, the shape of its numbers, and what its table says of all runs.
FAMILIES = [
    (f"{TINY} --heads 3 --subset 1,4 --samples 32 --fresh-rows --tau n/2 --eta 0.05"
     " --optimiser sgd --noise 0.1", (25, 3, 2), " of 25, "),
    ("heads --preset pair --n 64 --positions balanced --width 90 --runs 20", (20, 2, 90),
     r"20 of 20, 100 % \[84, 100\]"),
    ("layers --n 20 --k 8 --samples 6000 --runs 2", (2, 27, 7), r"2 of 2, 100 % \[34, 100\]"),
    (TRANSFORMER, None, "rows, median"),
]  # fmt: skip
SLOW = [
    ("teacher --n 32 --k 8 --runs 2 --link quadratic", (2, 39, 7), r"2 of 2, 100 % \[34, 100\]"),
    ("levels --n 32 --k 8 --runs 1", (1, 39, 7), "0, 1, 2, 3"),
    ("full-batch --n 32 --k 8 --runs 1 --mode direct --samples 500 --steps 10", None, "never"),
]


@pytest.mark.parametrize(
    ("command", "shape", "words"),
    [*FAMILIES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
    ids=lambda value: value.split(" --")[0] if isinstance(value, str) else "",
)
def test_a_family_is_trained_counted_drawn_and_saved(capsys, elsewhere, command, shape, words):
    code, out, _ = run(
        capsys, "train", *command.split(), "--figure", "drawn.png", "--save", "runs.npz"
    )
    assert code == 0
    assert re.search(words, out)
    assert "figure: drawn.png" in out
    assert (elsewhere / "drawn.png").stat().st_size > 1000
    runs = Runs.load(elsewhere / "runs.npz")
    assert shape is None or runs.numbers.shape == shape


def test_options_of_a_transformer_that_do_not_fit_are_one_line(capsys, elsewhere):
    for change, words in (
        ("--chain tree --k 3", "nearest: 2 and 4"),
        ("--heads 3", "width must be a multiple of heads=3"),
    ):
        assert words in refused(capsys, "train", *TRANSFORMER.split(), *change.split())


MODES = [
    *(f"heads --preset {preset} --n 40" for preset in ("paper", "code", "annealed")),
    "heads --preset pair --n 4096 --runs 20000",
    "teacher --runs 20",
    "levels --runs 20",
    *(
        f"full-batch --mode {mode} --runs 20"
        for mode in ("direct", "cot", "teacher-full", "selfcheck")
    ),
    "layers --runs 20",
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_soon_says_a_word_and_ends_at_once_when_interrupted(mode, elsewhere):
    """A compiled loop may run for minutes, and jax would wait for it at exit or break on it."""
    command = [sys.executable, "-m", "paritylab", "train", *mode.split()]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        words = iter(process.stderr.readline, b"")
        first = next(line for line in words if b"at work for" in line)
        assert re.search(rb"at work for [123] s", first)
        process.send_signal(signal.SIGINT)
        try:
            *_, last = process.communicate(timeout=20)[1].splitlines()
        finally:
            process.kill()
    assert process.returncode == 130
    assert last.decode().startswith("paritylab: interrupted; finished work is saved")
