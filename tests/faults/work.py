"""Blocks that need no jax: what drivers and workers of the fault suite compute."""

import random
import time
from typing import Any, NamedTuple

from paritylab.sweep.grid import Spec


class Task(NamedTuple):
    """Stands for the sweep's own task, whose module loads every learner."""

    spec: Spec
    file: str | None = None


def true_rows(spec: Spec) -> list[dict[str, Any]]:
    """What the rows of a block have to be; some are long enough to spill over several pages."""
    draw = random.Random(spec.hash)
    runs = spec.block if spec.first % 7 else 8 * spec.block
    return [{"success": draw.random() < 0.5, "risk": draw.random()} for _ in range(runs)]


def made_rows(task: Task, marks: dict[str, str]) -> list[dict[str, Any]]:
    """Stands for the runner's function of the same name."""
    time.sleep(dict(task.spec.settings).get("pause", 0.0))
    return true_rows(task.spec)
