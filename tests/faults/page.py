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
- **Bad input is one line and exit code 2.** Command lines, sweep files, row files and claims files
  are scrambled; a traceback, an end later than 20 s and a wrong exit code count. Files from
  elsewhere are read under limits of kind, size, depth and digits (`tests/test_untrusted.py`).
- **A risk is off by no more than it says.** Readouts with values at single sums, spikes, jumps,
  fast waves and steep walls, biases near 0 and 1 and nearly equal weights are compared with
  enumeration in extended precision.

The criterion was written down before the run: 0 in every column of harm.

## What was found

{table}

{note}

## What is not promised

- The error of a *numerical* risk is an estimate, not a proof. A readout whose operations cannot be
  followed gets an infinite error.
- Power that fails while a disk lies about what it has written is beyond sqlite, and so beyond us.
- A claims or learners file is code and is run; give only files you trust.
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
