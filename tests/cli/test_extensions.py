"""A learner and a loss of a user's own: one class or function and one registration each."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import refused, run

from paritylab.learning import LEARNERS, Heads, Population, Runs, Sample, learn
from paritylab.problem import Parity, random_trees
from paritylab.problem.losses import LOSSES
from paritylab.sweep import learners_from_file
from paritylab.sweep.blocks import files_of_parts

OWN = '''
from dataclasses import dataclass
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Interval

from paritylab.learning import {data}, Trained, register_learner
from paritylab import register_loss


@register_loss("logistic")
def logistic(y, prediction):
    return jnp.logaddexp(0, -y * prediction)


@register_learner("parrot")
@dataclass(frozen=True)
class Parrot:
    """It repeats a number. Nothing is learnt."""

    word: Annotated[float, Interval(ge=-1, le=1), Doc("What it says.")] = 0.5
    times: Annotated[int, Ge(1), Doc("How often.")] = 1

    takes = ({data},)
{facts}
    def train(self, data, keys, trace):
        ends = np.full(data.runs, self.word * self.times)
        return Trained(numbers=ends, subset=[None] * data.runs, risk=(1 - ends) ** 2,
                       error=np.zeros(data.runs), kind="exact", loss="squared_hinge",
                       solved=ends > 0.9)

    def rebuild(self, numbers, target, key):
        return lambda bits: float(numbers)
'''
TREES = '    targets = ("tree",)\n    trains_on = {"n": 16, "k": 4, "runs": 3}\n'
GRID = 'learner = "{}"\nruns = 2\nblock = 2\n[problem]\nn = 8\nk = 2\n{}'


@pytest.fixture
def own(elsewhere):
    """The user's file; what it registers is forgotten afterwards."""
    before = dict(LEARNERS), dict(LOSSES)
    file = elsewhere / "own.py"
    file.write_text(OWN.format(data="Population", facts=""))
    yield file
    for table, entries in zip((LEARNERS, LOSSES), before, strict=True):
        table.clear()
        table.update(entries)


def test_a_learner_and_a_loss_are_one_registration_each_for_learn(own):
    assert learners_from_file(own) == {"parrot", "logistic"}
    on_one = Population(Parity(8, (1, 4)))
    assert learn(LEARNERS["parrot"](word=1.0), on_one, runs=3).solved.all()
    runs = learn(Heads.code(loss="logistic", steps=30), on_one, runs=2)
    assert np.isfinite(runs.risk).all()
    assert (runs.trace, runs.learner.loss) == ({}, "logistic")


def test_they_reach_sweeps(capsys, own):
    for learner, settings in (("parrot", "word = [0.5, 1.0]"), ("heads", 'loss = "logistic"')):
        more = "" if learner == "parrot" else "steps = 20\n"
        grid = own.with_name(f"{learner}.toml")
        grid.write_text(GRID.format(learner, f"[settings]\n{settings}\n{more}"))
        command = ["sweep", "run", grid.name, "--file", own.name]
        code, out, err = run(capsys, *command)
        assert code == 0, err
        assert "of 2, " in out
        assert "0 blocks computed" in run(capsys, *command)[2]
    # Another loss in the same file is other code: its blocks are computed anew.
    assert files_of_parts("heads", {"loss": "logistic"}) == [own]
    own.write_text(own.read_text().replace("logaddexp(0,", "logaddexp(0.1,"))
    assert "1 blocks computed" in run(capsys, *command)[2]


def test_they_reach_the_command_line(capsys, own):
    file = ["--file", own.name]
    code, out, _ = run(capsys, "train", "parrot", *file, "--help")
    assert code == 0
    assert "What it says. [default: 0.5]" in out
    assert "--target" in out
    command = ["train", "parrot", *file, "--n", "9", "--word", "1", "--runs", "25"]
    code, out, err = run(capsys, *command, "--save", "runs.npz")
    assert (code, "25 of 25, " in out) == (0, True), err
    assert len(Runs.load(own.with_name("runs.npz"))) == 25
    assert "word must be at most 1, got 7.0" in refused(capsys, *command, "--word", "7")
    code, out, err = run(capsys, "train", "heads", *file, "--loss", "logistic", "--steps", "9")
    assert (code, "of 100, " in out) == (0, True), err


def test_settings_without_annotations_are_options_too(capsys, own):
    coin = Path(__file__).parents[1] / "sweep" / "coin.py"
    command = ["train", "coin", "--file", coin, "--rate", "1", "--runs", "3"]
    code, out, err = run(capsys, *command)
    assert (code, "3 of 3, " in out) == (0, True), err


def test_what_a_learner_says_of_itself_decides_what_it_is_given(capsys, own):
    """Trees, and rows because it takes no population; named in one class attribute each."""
    own.write_text(OWN.format(data="Sample", facts=TREES))
    code, out, err = run(capsys, "train", "parrot", "--file", own.name)
    assert (code, "of 3, " in out) == (0, True), err
    assert "n=16 samples=16000" in err
    assert "--subset" not in run(capsys, "train", "parrot", "--file", own.name, "--help")[1]
    data = Sample(random_trees(16, 4, 2), 10)
    assert len(learn(LEARNERS["parrot"](), data)) == 2
    own.write_text(OWN.format(data="Sample", facts='    targets = ("forest",)\n'))
    assert "some of parity, junta, pair, tree" in refused(
        capsys, "train", "parrot", "--file", own.name
    )


def test_a_setting_may_name_a_part_in_a_file(capsys, own):
    own.with_name("parts.py").write_text(
        "import equinox as eqx\n"
        "def cubed(y, prediction):\n    return abs(1 - y * prediction) ** 3\n"
        'def net(key):\n    return eqx.nn.MLP(8, "scalar", 4, 1, key=key)\n'
    )
    command = ["train", "heads", "--loss", "parts.py:cubed", "--steps", "9", "--runs", "3"]
    code, out, err = run(capsys, *command)
    assert (code, "of 3, " in out) == (0, True), err
    assert "1 of 1 blocks reused" in run(capsys, *command)[2]
    code, out, err = run(capsys, "train", "descent", "--model", "parts.py:net", "--steps", "5")
    assert (code, "of 20, " in out) == (0, True), err
    assert "has no 'cubes'; did you mean 'cubed'" in refused(
        capsys, "train", "heads", "--loss", "parts.py:cubes"
    )


#: Settings with which one run of a learner takes a moment.
SMALL = {
    "descent": "--model net.py:net --steps 5",
    "hinge-net": "--width 8 --steps 5",
    "recurrent": "--width 4 --steps 5",
    "transformer": "--n 6 --k 2 --width 8 --heads 2 --steps 10 --check 5",
    **dict.fromkeys(("full-batch", "hiding-oracle"), "--n 8 --k 4 --samples 200 --steps 5"),
    **dict.fromkeys(("teacher", "levels", "layers"), "--n 8 --k 4 --samples 200"),
    **dict.fromkeys(("heads", "feedforward", "frozen", "sign-descent"), "--steps 5"),
    **dict.fromkeys(("auto", "correlation", "elimination", "one-step"), "--n 12"),
}


def test_every_learner_is_small_somewhere():
    assert set(SMALL) == {n for n, each in LEARNERS.items() if each.__module__[:10] == "paritylab."}


@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_learner_is_trained_from_the_command_line(capsys, elsewhere, name):
    (elsewhere / "net.py").write_text(
        'import equinox as eqx\ndef net(key):\n    return eqx.nn.MLP(8, "scalar", 4, 1, key=key)\n'
    )
    command = ["train", name, *SMALL[name].split(), "--runs", "2"]
    code, out, err = run(capsys, *command)
    assert code == 0, err
    assert re.search(r"(solved|recovered) +\d of 2, ", out)
    assert not list(elsewhere.glob("*.svg"))


def test_help_loads_neither_jax_nor_numpy():
    words = "import sys; from paritylab.cli import main\ntry: main({})\nexcept SystemExit: pass\n"
    words += "print([name for name in ('jax', 'numpy') if name in sys.modules])"
    for command in (["--help"], ["train", "--help"], ["train", "heads", "--help"]):
        call = [sys.executable, "-c", words.format(command)]
        done = subprocess.run(call, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]", command
