"""Bad input is one line that says what is wrong, and exit code 2: all attempts in two tables."""

import shlex

import pytest
from tests.cli.running import refused

HUGE, LONG = "9" * 400, "x" * 400
GRID = 'learner = "heads"\nruns = 4\nblock = 2\n[problem]\nn = [6, 8]\nk = 2\n'

#: What is typed after `paritylab`, and words of the answer.
LINES = f"""
{LONG} | No such command
check no-such-claim | no claim 'no-such-claim'
check hg1-masc | did you mean hg1-mask?
check --record --seed 1 | --record runs
check hg1-mask --paper ks | none of the claims asked for is of paper ks
check --jobs 0 | greater than or equal to 1
check --file none.py | none.py
check --json no/such/rows.json | no/such/rows.json
check --report taken | taken is a file
check --store broken.db | broken.db
report | --from
report --from rows.json | --out
report --from taken --out x | taken
claims new x.txt | ends in .py
claims new taken.py | exists already
live --from rows.json | rows.json
live --from . | got .
live --out {LONG} | too long
train heads --n 0 | n must be at least 1
train heads --n {HUGE} | n must be a whole number below 2⁶³
train heads --n 1000000000 | this machine has
train heads --k 99 | k must be between 0 and n=12
train heads --preset best | 'best' is not one of
train heads --restarts x | not a valid integer
train haeds | did you mean 'heads'
train heads --loss sqared | did you mean 'squared'
train heads --loss none.py:mine | no parts file
train heads --file none.py | no learners file
train heads --file taken.py | registers nothing
train descent | model is needed
train heads --tau n/0 | division by zero
train heads --eta -1 | eta must be above 0
train heads --noise 2 | noise must be below 0.5
train heads --subset 1,2,3 --k 4 | subset has 3 positions, but k=4
train heads --subset 1,2,3 --k 2 | subset has 3 positions, but k=2
train heads --subset 1,12 | positions from 0 to 11, as n=12
train heads --subset 1,1 | 1
train heads --subset 1,2 --neighbours | leave it out where subset is given
train heads --fresh-rows | give samples as well
train heads --k 4 --target majority | majority
train one-step --samples 9 | No such option
train recurrent --target majority | No such option
train heads --runs 0 | --runs must be at least 1
train heads --bogus 1 | --bogus
train heads --save no/such/runs.npz | --save needs a file in an existing folder
train heads --figure x.bmp | a figure file ends in
train heads --preset pair --positions balanced --n 65 | even n
train teacher --n 4194304 --k 2097152 | needs about
train levels --k 12 | nearest: 8 and 16
sweep run nothing-named | nothing-named
sweep run binary.toml | binary.toml
sweep run xor --engine threads | threads
sweep run xor --engine dask --cluster somewhere | no dask scheduler answers at somewhere
sweep status --store none.db | no store none.db
sweep status --store rows.json | cannot use the store
sweep export | say where to
sweep export --csv a/b.csv | existing folder
"""


@pytest.fixture
def desk(elsewhere):
    """Files that the lines name."""
    (elsewhere / "taken").write_text("")
    (elsewhere / "taken.py").write_text("")
    (elsewhere / "rows.json").write_text("[]")
    (elsewhere / "broken.db").write_bytes(b"not a database" * 200)
    (elsewhere / "binary.toml").write_bytes(b"\xff\xfe\x00learner")
    return elsewhere


def contents(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("command", "words"),
    [line.split(" | ") for line in LINES.strip().split("\n")],
    ids=lambda text: text[:60],
)
def test_bad_input_is_one_line_and_exit_2(capsys, desk, command, words):
    before = contents(desk)
    assert words in refused(capsys, *shlex.split(command))
    assert contents(desk) == before


#: A change of GRID, and words of the answer.
GRIDS = [
    ('learner = "heads"\n', "", "lacks 'learner'"),
    ('"heads"', "", "grid.toml"),
    ('"heads"', '"haeds"', "did you mean 'heads'"),
    ("runs = 4", "runs = 5", "multiple of block=2, got 5"),
    ("runs = 4", "runs = 2000000000", "at most 1,000,000 blocks"),
    ("block = 2", "block = 0", "block must be at least 1"),
    ("block = 2", "width = 0", "unknown key"),
    ("[problem]\nn = [6, 8]\nk = 2", "", "lacks 'problem'"),
    ("n = [6, 8]", "n = []", "n is an empty list"),
    ("n = [6, 8]", 'n = ["six"]', "n must be a whole number, got 'six'"),
    ("n = [6, 8]\n", "", "the problem lacks n"),
    ("\nk = 2", "\nk = 2\nsubset = [1, 2, 3]", "subset has 3 positions, but k=2"),
    ("\nk = 2", "\nk = 9", "no cell of this grid can exist"),
    ("\nk = 2", '\nk = 2\ntarget = "majorty"', "did you mean 'majority'"),
    ("\nk = 2", "\nk = 2\nsamples = 0", "samples must be at least 1"),
    ("\nk = 2", "\nk = 2\n[settings]\ntau = -1.0", "tau must be positive"),
    ("\nk = 2", '\nk = 2\n[settings]\ntua = "1/n"', "did you mean 'tau'"),
    ("\nk = 2", "\nk = 2\n[settings]\nk = 3", "k=3 contradicts the problem's k=2"),
    ("\nk = 2", "\nsubset = [1, 7]", "positions from 0 to 5, as n=6"),
    ("\nk = 2", '\nk = 2\n[settings]\nloss = "none.py:f"', "no parts file"),
]


@pytest.mark.parametrize(("old", "new", "words"), GRIDS)
def test_a_bad_grid_file_is_one_line(capsys, elsewhere, old, new, words):
    assert old in GRID
    (elsewhere / "grid.toml").write_text(GRID.replace(old, new))
    assert words in refused(capsys, "sweep", "run", "grid.toml", "--dry-run")
