"""docs/reliability.md, made from what the fault suite found."""

from collections.abc import Mapping

_PAGE = """# What holds when things break

`make faults` breaks the lab on purpose and counts the harm. This page is made from its last run:
`python -m tests.faults --page docs/reliability.md`.

## What is promised, and how it is tested

- **A finished block is kept.** Drivers, workers and schedulers are killed at random moments; after
  each kill the store is compared with what was announced. Lost, doubled and different rows count.
- **A damaged store is refused or right.** Files and write-ahead logs are cut and bits flipped; what
  is read must be what was written, and `sweep rescue` must bring back every row that is whole.
- **Rows carry the name of the code that made them.** A worker is known by the file it loaded, not
  by the file that is there now; rows of other code are not stored (`tests/sweep/test_edits.py`).
- **Two drivers of one store share the work:** the second begins at the other end.
- **A lost scheduler is one line within 20 s,** with exit code 2, and the same command goes on. A
  block that kills every worker that begins it is named, and all others are stored. A worker that
  dies while it starts is not charged to the block that waited for it. Rows of a dask worker with
  other versions are not stored, whether it was there from the start or joined.
- **Bad input is one line and exit code 2.** Command lines (in one process, and as processes with
  and without a store), sweep files, row files and claims files are scrambled; a traceback, an end
  later than 20 s and a wrong exit code count. Files from elsewhere are read under limits of kind,
  size, depth and digits (`tests/test_untrusted.py`). A claims file that raises anything when it is
  read is one line; a claim that raises is a row with the status *failed* and exit code 4.
- **A bad argument is a one-line ValueError or TypeError.** Every public name of the package and its
  rooms is called with one or two arguments spoilt: of another kind, of another shape, negative,
  huge, empty, not a number, nearly right. Any other error counts as a traceback, and so do messages
  of several lines; a NaN that went in and came out in silence counts as wrong.
- **A risk is off by no more than it says.** Readouts with values at single sums, spikes, jumps,
  fast waves and steep walls, biases near 0 and 1 and nearly equal weights are compared with
  enumeration in extended precision.

The criterion was written down before the run: 0 in every column of harm. *lost*: rows that were
announced and are gone, or missing at the end. *duplicates*: blocks stored or computed twice.
*wrong*: rows or answers that differ. *hangs*: no end after 20 s. *codes*: another exit code than
the right one.

## What was found

{table}

{note}

## What is not promised

- The error of a *numerical* risk is an estimate, not a proof. A readout whose operations cannot be
  followed gets an infinite error.
- Power that fails while a disk lies about what it has written is beyond sqlite, and so beyond us.
- A claims or learners file is code and is run; give only files you trust. One that loops without
  end, or ends its process by `os._exit`, is not caught.
- Values that only hold what they are given are not checked for NaN: figures have gaps, a run that
  diverged has no risk, and the learnt numbers of a model may be anything. What is computed from
  them refuses NaN.
- Functions of arrays for the inside of compiled code (attention, `smooth_relu`, `weights_of`,
  `with_parameters`) see no values and check none; nor are methods called with junk, only names.
- A number that asks for much work gets much work: 2³¹ samples are drawn if they are asked for.
- Locks that tell two drivers of each other work for one user on one machine. Elsewhere both may
  compute a block; one copy of it is kept.
"""


def render(rows: list[list[str]], missing: Mapping[str, int], harm: list[str]) -> str:
    """The page with the table; the first row has the names of the columns.

    missing: how many pieces of each part have not been run to their end. harm: cases of it.
    """
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{' --- |' * len(rows[0])}")
    left = ", ".join(f"{count} of `{name}`" for name, count in missing.items() if count)
    note = f"Pieces not run to their end in this run: {left}." if left else "Every part was run."
    note += "".join(f"\n\nHarm: {each}. A later run has to show 0." for each in harm)
    return _PAGE.format(table="\n".join(lines), note=note)
