"""What is told about the training of a chain: numbers per run, and its trace."""

import numpy as np
from jaxtyping import Float

from paritylab._support.precision import AnyArray
from paritylab.learning.chain.evaluation import SOLVED_LOSS
from paritylab.learning.chain.training import Parameters, Setting
from paritylab.learning.descent import Walk

#: Arrays by name, the run first, then the step.
Notes = dict[str, np.ndarray]


def stats_of(notes: Notes, end: Notes) -> Notes:
    """Numbers of every run. notes: before each step. end: of the same after the last one."""
    stats = {name: notes[name] for name in notes.keys() - KNOWN}
    if "risk" in notes:
        below = notes["answer"] < SOLVED_LOSS
        stats["solved_at"] = np.where(below.any(axis=1), below.argmax(axis=1), -1)
        stats["answer_loss"] = notes["answer"][:, -1]
        stats["chain_loss"] = notes["chain"][:, -1]
    if "solved_levels" in end:
        solved, passes = (
            np.concatenate([notes[name], end[name][:, None]], axis=1)
            for name in ("solved_levels", "passes")
        )
        stats |= _level_stats(solved, passes)
    return stats


#: Notes that every chain has; an oracle may add others.
KNOWN = {"risk", "answer", "chain", "solved_levels", "passes"}


def _level_stats(
    solved: Float[np.ndarray, "runs steps levels"], passes: Float[np.ndarray, "runs steps levels"]
) -> Notes:
    """Levels solved from the bottom, and whether it was one more at every step."""
    levels = np.cumprod(solved == 1, axis=2).sum(axis=2)
    depth, ready = solved.shape[2], np.arange(solved.shape[1])
    silent = passes == 0
    return {
        "levels_per_step": levels,
        "one_per_step": (levels == np.minimum(ready, depth)).all(axis=1) & (levels[:, -1] == depth),
        "silenced_level": np.where(silent.any(axis=2), silent.argmax(axis=2) + 1, 0),
    }


def trace_of(setting: Setting, walked: Walk[Parameters], end: Notes) -> Notes:
    """What is recorded before every `setting.every`-th step, and at the end if it is one of them.

    A single product has its risk before and after.
    """
    notes, path, every = walked.noted, walked.path[0], setting.every or 1
    if setting.one_product:
        return {"step": np.arange(2), "risk": notes["answer"], "scores": path}
    ends = setting.steps % every == 0

    def record(steps: np.ndarray, last: AnyArray) -> np.ndarray:
        return np.concatenate([steps, last[:, None]], axis=1) if ends else steps

    names = {"risk": "answer", "chain_loss": "chain", "open_levels": "passes"}
    records = {
        name: record(notes[of][:, ::every], end[of]) for name, of in names.items() if of in notes
    }
    if "open_levels" in records:
        records["open_levels"] = records["open_levels"].sum(axis=2)
    return {**records, "scores": record(path, np.asarray(walked.end[0]))}
