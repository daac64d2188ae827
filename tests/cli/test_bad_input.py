"""Bad input is one line that says what is wrong, and exit code 2: all attempts in one table."""

import os
import re
import shlex

import pytest
from tests.cli.running import run

HUGE, LONG = "9" * 400, "x" * 400
GRID = 'learner = "heads"\nruns = 4\nblock = 2\n[problem]\nn = [6, 8]\nk = 2\n'

#: What is typed after `paritylab`, and words of the answer.
LINES = """
check no-such-claim | no claim 'no-such-claim'
check hg1-masc | did you mean hg1-mask?
check --record --seed 1 | --record runs
check hg1-mask --paper ks | none of the claims asked for is of paper ks
check --jobs 0 | greater than or equal to 1
check --seed -1 | -1
check --file none.py | none.py
check --json no/such/rows.json | no/such/rows.json
check --report taken | taken is a file
check --store taken/store.db | taken
check --store broken.db | broken.db
report | --from
report --from rows.json | --out
report --from none.json --out x | none.json
report --from /dev/zero --out x | ordinary
claims --json lost.svg | symbolic link
dance | dance
discover missing.csv --target y | is now `xorfind table`
xor missing.txt | is now `xorfind bits`
apply missing.json missing.csv | is now `xorfind apply`
live --from missing.npz | missing.npz
live --from rows.json | rows.json
train heads --n 0 | n must be at least 1
train heads --n 1000000000 | this machine has
train heads --k 99 | k must be between 0 and n=12
train heads --heads 0 | heads must be at least 1
train heads --heads 100000 --n 1000000 | smaller sizes
train heads --samples 0 | samples must be at least 1
train heads --preset best | 'best' is not one of
train heads --restarts 2 | --restarts belongs to --preset anneal
train heads --tau n/0 | division by zero
train heads --tau cold | cold is not arithmetic in n
train heads --eta -1 | eta must be above 0
train heads --noise 2 | noise must be below 0.5
train heads --subset 1,2,3 --k 4 | subset has 3 positions, but k=4
train heads --subset 1,80 | positions must be in 0..11
train heads --runs 0 | --runs must be at least 1
train heads --seed -1 | seed must be at least 0
train heads --bogus 1 | --bogus
train heads --figure x.bmp | a figure file ends in
train heads --figure lost.svg | symbolic link
train xor --n 2 | n ≥ 3
train xor --n 1000000000 --samples 1000 | needs about
train xor --gain -5 | gain must be above 0
train xor --positions balanced --n 65 | even n
train chain --n 4194304 --k 2097152 | needs about
train chain --k 12 | nearest: 8 and 16
train chain --steps 5 | --steps belongs to --mode levels or direct
train chain --mode levels --epsilon 3 | epsilon must be below 2
sweep run nothing-named | nothing-named
sweep run missing.toml | missing.toml
sweep run binary.toml | not a sweep
sweep run xor --engine threads | threads
sweep run xor --cluster tcp://127.0.0.1:1 | --engine dask
sweep run xor --engine dask --cluster somewhere | no dask scheduler answers at somewhere
sweep status --store rows.json | cannot use the store
sweep plot --store none.db | no store none.db
sweep export | say where to
sweep export --csv a/b.csv | existing folder
"""
CASES = [line.split(" | ") for line in LINES.strip().splitlines()]
CASES += [
    [f"train heads --n {HUGE}", "n must be a whole number below 2⁶³"],
    [f"train heads --preset {LONG}", "is not one of"],
    [f"live --out {LONG}", "too long"],
    ["xor --threshold quick é\u2028\x1b[31m", "xorfind bits"],
]


@pytest.fixture
def desk(elsewhere):
    """Files that the lines name."""
    (elsewhere / "taken").write_text("")
    (elsewhere / "rows.json").write_text("[]")
    (elsewhere / "broken.db").write_bytes(b"not a database" * 200)
    (elsewhere / "binary.toml").write_bytes(b"\xff\xfe\x00learner")
    (elsewhere / "lost.svg").symlink_to("nowhere")
    return elsewhere


def refused(capsys, *arguments):
    """The one line of a refusal."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, ""), err
    *remarks, line = err.splitlines()
    assert all(re.fullmatch("loading|.* at work for .* s", each) for each in remarks)
    assert line.startswith("paritylab: ")
    assert "\x1b" not in line
    assert len(line) < 400
    return line


@pytest.mark.parametrize(("command", "words"), CASES, ids=lambda text: text[:60])
def test_bad_input_is_one_line_and_exit_2(capsys, desk, command, words):
    before = sorted(os.listdir(desk))
    assert words in refused(capsys, *shlex.split(command))
    assert sorted(os.listdir(desk)) == before  # nothing was made, nothing followed a link


#: A change of GRID, and words of the answer.
GRIDS = [
    ('learner = "heads"\n', "", "lacks 'learner'"),
    ("[problem]\nn = [6, 8]\nk = 2", "", "lacks 'problem'"),
    ('"heads"', "", "grid.toml is not a sweep"),
    ('"heads"', "3", "learner must be a name, got 3"),
    ('"heads"', '"haeds"', "did you mean 'heads'"),
    ('"heads"', '"elimination"', "give the number of samples"),
    ("runs = 4", "runs = 5", "multiple of block=2, got 5"),
    ("runs = 4", "runs = 2000000000", "at most 1,000,000 blocks"),
    ("block = 2", "block = 0", "block must be at least 1"),
    ("block = 2", "width = 0", "unknown key"),
    ("block = 2", "block = 2\nseed = 4294967296", "seed must be at most 4294967295"),
    ("n = [6, 8]", "n = []", "n is an empty list"),
    ("n = [6, 8]", 'n = ["six"]', "n must be a whole number, got 'six'"),
    ("n = [6, 8]", "n = {a = 1}", "plain value"),
    ("n = [6, 8]\n", "", "the problem lacks n"),
    ("n = [6, 8]", "n = 8\nd = 3", "unknown problem entry for heads 'd'"),
    ("\nk = 2", "\nk = 2\nsubset = [1, 2, 3]", "subset has 3 positions, but k=2"),
    ("\nk = 2", "\nsubset = 7", "subset must be a list of positions, got 7"),
    ("\nk = 2", "\nk = 9", "no cell of this grid can exist"),
    ("\nk = 2", '\nk = 2\ntarget = "majorty"', "did you mean 'majority'"),
    ("\nk = 2", "\nk = nan", "k must be a"),
    ("\nk = 2", "\nk = 2\nsamples = 0", "samples must be at least 1"),
    ("\nk = 2", "\nk = 2\nfresh = true", "give samples"),
    ("\nk = 2", "\nk = 2\n[settings]\ntau = -1.0", "tau must be positive"),
    ("\nk = 2", '\nk = 2\n[settings]\ntua = "1/n"', "did you mean 'tau'"),
    ("\nk = 2", '\nk = 2\n[settings]\npreset = "best"', "unknown preset of heads 'best'"),
    ("[problem]\nn = [6, 8]\nk = 2", "problem = []", "nothing to run"),
]


@pytest.mark.parametrize(("old", "new", "words"), GRIDS)
def test_a_bad_grid_file_is_one_line(capsys, elsewhere, old, new, words):
    assert old in GRID
    (elsewhere / "grid.toml").write_text(GRID.replace(old, new))
    assert words in refused(capsys, "sweep", "run", "grid.toml", "--dry-run")
