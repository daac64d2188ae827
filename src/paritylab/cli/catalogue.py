"""What `paritylab train --help` knows of learners without loading them: a generated file.

`make catalogue` writes it from the registered classes.
"""

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from paritylab._support.output_files import write_atomically
from paritylab.options import Bound, Option

#: Next to the code, so that an installed package has it too.
FILE = Path(__file__).with_name("catalogue.json")
_TYPES = {each.__name__: each for each in (int, float, str, bool)}


class Entry(NamedTuple):
    """A learner as the command line offers it.

    help: the first paragraph of its docstring. options: its settings. defaults: the plain ones of
    these, of the preset it trains on where it names one. presets, trains_on: as in `BaseLearner`.
    problem: names of the problem options it takes.
    """

    name: str
    help: str
    options: Mapping[str, Option]
    defaults: Mapping[str, Any]
    presets: Sequence[str]
    trains_on: Mapping[str, Any]
    problem: Sequence[str]


@cache
def catalogue() -> dict[str, Entry]:
    """The learners of the package by name, from the generated file."""
    return {each["name"]: _from_plain(each) for each in json.loads(FILE.read_text("utf-8"))}


def described_learners(names: Sequence[str] | None = None) -> dict[str, Entry]:
    """Registered learners as they are now; those of the package if no names are given."""
    from paritylab.learning import LEARNERS

    if names is None:
        ours = (n for n, each in LEARNERS.items() if each.__module__.startswith("paritylab."))
        names = sorted(ours)
    return {name: _described(name, LEARNERS[name]) for name in names}


def _described(name: str, learner: type) -> Entry:
    from paritylab.learning.contract import fact
    from paritylab.options import PROBLEM, options_of
    from paritylab.sweep.blocks import problem_entries, setting_names

    options, presets = _plain_options(learner) | options_of(learner), fact(learner, "presets")
    preset = fact(learner, "trains_on").get("preset")
    source = learner if preset is None else presets[preset]()
    plain = {
        setting: getattr(source, setting)
        for setting in setting_names(learner)
        if isinstance(getattr(source, setting, None), str | int | float)
    }
    takes = getattr(learner, "takes", ())
    kinds = {each.__name__ for each in takes} if isinstance(takes, tuple) else {"Sample", "Fresh"}
    entries = problem_entries(fact(learner, "targets"))
    if not kinds & {"Sample", "Fresh"}:
        entries -= {"samples"}
    if "Fresh" not in kinds:
        entries -= {"fresh"}
    return Entry(
        name=name,
        help=" ".join((inspect.getdoc(learner) or name).split("\n\n")[0].split()),
        options={
            setting: options[setting] for setting in setting_names(learner) if setting in options
        },
        defaults={setting: value for setting, value in plain.items() if setting in options},
        presets=list(presets),
        trains_on=dict(fact(learner, "trains_on")),
        problem=[entry for entry in PROBLEM if entry in entries],
    )


def _plain_options(learner: type) -> dict[str, Option]:
    """Options for settings of a user's learner that are not annotated, by their defaults."""
    settings = fields(learner) if is_dataclass(learner) else ()
    return {
        each.name: Option(type(each.default), "")
        for each in settings
        if type(each.default) in _TYPES.values()
    }


def as_text(entries: Mapping[str, Entry]) -> str:
    """The entries as the file holds them."""
    plain = [_as_plain(entry) for entry in entries.values()]
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def _as_plain(entry: Entry) -> dict[str, Any]:
    options = {
        name: {**option._asdict(), "type": option.type.__name__}
        for name, option in entry.options.items()
    }
    return {**entry._asdict(), "options": options}


def _from_plain(plain: dict[str, Any]) -> Entry:
    options = {
        name: Option(
            **{
                **each,
                "type": _TYPES[each["type"]],
                "bounds": tuple(Bound(*bound) for bound in each["bounds"]),
                "choices": tuple(each["choices"]),
            }
        )
        for name, each in plain["options"].items()
    }
    return Entry(**{**plain, "options": options})


def write_catalogue() -> None:
    """Write the file anew."""
    write_atomically(FILE, as_text(described_learners()))
