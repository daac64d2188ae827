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

## Found by force once, and the test of each

{findings}

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
- Workers of other versions get 60 s and a block that kills its workers 120 s to end, not 20 s.
- A number that asks for much work gets much work: 2³¹ samples are drawn if they are asked for.
- A verdict of a claim of one's own is run again when its file, modules that it imports, and the
  files and variables named in `reads=` change. A claim that opens another file, when it is loaded
  or while it runs, is refused. Not seen: what comes from the network, through another program or
  through native code, and variables whose names are made at run time.
- A time before a block runs is an estimate: within a factor of 3 on the cases of
  `benchmarks/costs.py`, "at most" where a learner may end sooner, or unknown.
- Locks that tell two drivers of each other work for one user on one machine. Elsewhere both may
  compute a block; one copy of it is kept.
"""

#: What was found, and the tests that try it again; a file alone where all of it is meant.
FINDINGS = (
    (
        "rows of old code under the name of an edited file",
        "sweep/test_edits.py::"
        "test_a_long_lived_dask_worker_stores_nothing_under_the_name_of_an_edit",
    ),
    (
        "attention that does not sum to 1 was scaled in silence",
        "risk/test_exactness.py::"
        "test_rows_of_attention_that_do_not_sum_to_one_are_refused_or_counted",
    ),
    (
        "a series blind to values at single sums and to spikes",
        "risk/test_exactness.py::test_a_value_at_zero_alone_is_inside_the_error",
    ),
    (
        "the same in gradients and compiled loops",
        "risk/test_exactness.py::test_narrow_features_count_in_loops_and_in_slopes",
    ),
    (
        "rounding that adds up at a million equal weights",
        "risk/test_exactness.py::test_equal_weights_round_alike_and_the_error_knows",
    ),
    (
        "seeds that repeat from 2³² on",
        "problem/test_sampling.py::test_seeds_that_would_repeat_are_refused",
    ),
    (
        "verdicts kept though a data file or a variable changed",
        "claims/test_engine.py::test_what_a_claim_reads_is_named_and_a_change_of_it_is_seen",
    ),
    (
        "verdicts kept though a module loaded by hand changed",
        "claims/test_engine.py::test_a_module_loaded_by_hand_is_part_of_what_a_verdict_depends_on",
    ),
    (
        "estimates blind to settings",
        "sweep/test_phases.py::test_every_setting_that_costs_is_in_the_estimate",
    ),
    (
        "readers that wait for a pipe or fill the memory",
        "test_untrusted.py::test_no_reader_waits_or_fills_up",
    ),
    (
        "deep or long TOML as an internal error",
        "test_untrusted.py::test_hostile_toml_is_one_line_at_once",
    ),
    (
        "deep or long JSON as an internal error",
        "test_untrusted.py::test_hostile_json_is_one_line",
    ),
    (
        "formulas and escape codes from a foreign store",
        "test_untrusted.py::test_text_for_terminals_and_spreadsheets_is_escaped",
    ),
    (
        "a claims file that ends Python, and exit code 0",
        "test_untrusted.py::test_a_file_that_ends_python_is_bad_input",
    ),
    (
        "`apply` over its own input",
        "test_untrusted.py::test_apply_never_overwrites_what_it_reads",
    ),
    (
        "a rule with a key given twice",
        "test_untrusted.py::test_a_rule_with_a_key_given_twice_is_refused",
    ),
    (
        "settings that are no numbers",
        "test_untrusted.py::test_numbers_that_are_none_are_refused",
    ),
    (
        "blocks that failed because workers were killed",
        "sweep/test_engines.py::test_a_death_before_the_task_begins_is_not_charged_to_it",
    ),
    (
        "runs of somebody else's store without a mark",
        "sweep/test_phases.py::test_runs_that_came_with_a_store_are_marked",
    ),
    (
        "`train` silent for minutes, and deaf to Ctrl-C",
        "cli/test_train.py::test_every_mode_soon_says_a_word_and_ends_at_once_when_interrupted",
    ),
)


def findings() -> str:
    """The table of what was found by force."""
    lines = ["| found | test |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {what} | `tests/{test}` |" for what, test in FINDINGS)])


def render(rows: list[list[str]], missing: Mapping[str, int], harm: list[str]) -> str:
    """The page with the table; the first row has the names of the columns.

    missing: how many pieces of each part have not been run to their end. harm: cases of it.
    """
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{' --- |' * len(rows[0])}")
    left = ", ".join(f"{count} of `{name}`" for name, count in missing.items() if count)
    note = f"Pieces not run to their end in this run: {left}." if left else "Every part was run."
    note += "".join(f"\n\nHarm: {each}. A later run has to show 0." for each in harm)
    return _PAGE.format(table="\n".join(lines), note=note, findings=findings())
