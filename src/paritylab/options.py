"""Settings of every learner: what each means and what it may be, in one table.

Learners check themselves against it when they are built, sweeps and the command line make their
options from it. Nothing heavy is imported here, so that `--help` is quick.
"""

import math
import numbers
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, cast

from paritylab.checks import told


class Option(NamedTuple):
    """One setting.

    type: int, float, str or bool. help: one line. choices: names it may take; `own` names what
    else it accepts, an object or function of one's own. least, above, below: bounds of a number.
    optional: None is allowed and means what the help says. formula: a number or a formula in n.
    """

    type: type
    help: str
    choices: tuple[str, ...] = ()
    own: str = ""
    least: float | None = None
    above: float | None = None
    below: float | None = None
    optional: bool = False
    formula: bool = False


_LOSSES = (
    "squared_hinge",
    "hinge",
    "mean_hinge_squared",
    "squared",
    "correlation",
    "log_correlation",
)
_OPTIMISERS = ("sgd", "momentum", "normalised", "adam", "adamw", "rmsprop")
_POSITIONS = ("circle", "onehot", "signs", "balanced", "sphere")
_ATTENTION = ("softmax", "linear", "sigmoid", "exp", "relu", "hard")
_LINKS = ("cos", "quadratic", "gentle")

_steps = Option(int, "Gradient steps per run.", least=1)
_eta = Option(float, "Step size.", above=0, optional=True)
_optimiser = Option(str, "Optimiser.", _OPTIMISERS, own="an optax optimiser")
_loss = Option(str, "Loss trained on.", _LOSSES, own="a Loss or a function of y and ŷ")
_link = Option(str, "Link function φ.", _LINKS, own="an AbstractLink or an even function of t")

#: What there is to learn; every learner takes some of these.
PROBLEM: dict[str, Option] = {
    "n": Option(int, "Number of bits.", least=1),
    "k": Option(int, "Size of the hidden set.", least=1),
    "subset": Option(str, "One hidden set for all runs, such as 7,10,17; random if absent."),
    "target": Option(
        str,
        "What the hidden bits decide.",
        ("parity", "majority", "conjunction", "not-all-equal", "staircase"),
    ),
    "noise": Option(float, "Share of flipped labels.", least=0, below=0.5),
    "bias": Option(float, "P(bit = 1).", above=0, below=1),
    "neighbours": Option(bool, "Whether the set may hold circular neighbours."),
    "samples": Option(int, "Rows; exact gradients over all inputs if absent.", least=1),
    "fresh": Option(bool, "New rows at every step instead of one sample per run."),
}

_solver = {
    "alpha": Option(float, "Chance that unrelated labels get an answer.", above=0, below=1),
    "k": Option(int, "Size of the set; 1, 2, … if rows do not say.", least=1, optional=True),
    "budget": Option(float, "Seconds a run may take; 30 if absent.", above=0, optional=True),
}

OPTIONS: dict[str, dict[str, Option]] = {
    "heads": {
        "tau": Option(float, 'Temperature: a number, "1/n", "1/n^2", "n/4".', formula=True),
        "loss": _loss,
        "readout": Option(str, "From the attended sum to ŷ.", ("zigzag", "cos"), own="a function"),
        "optimiser": _optimiser,
        "eta": _eta._replace(help="Step size; 0.1, or the code's 0.2 for Adam at n = 20."),
        "steps": _steps._replace(least=0),
        "heads": Option(int, "Number of heads; k if absent.", least=1, optional=True),
        "variant": Option(
            str,
            "What trains: position entries, the 4×4 matrix, or the readout too.",
            ("masked", "unmasked", "joint", "joint-random"),
        ),
        "positions": Option(str, "Position code.", ("circle", "onehot"), own="a code or table"),
        "attention": Option(
            str, "How scores become weights.", _ATTENTION[:5], own="a function of scores"
        ),
        "start": Option(str, "Directions to start from.", own="an array", optional=True),
        "k": Option(int, "Size of the set, where rows do not say.", least=1, optional=True),
    },
    "anneal": {
        "steps": _steps,
        "tau_start": Option(float, "Temperature at the start.", above=0),
        "tau_end": Option(float, "Temperature at the end, in units of 1/n².", above=0),
        "eta": _eta._replace(help="Step in units of a head's width √tau.", optional=False),
        "jitter": Option(float, "Random kick per step, in the same units.", least=0),
        "moves": Option(
            int, "Relocations compared at a time; by k if absent.", least=0, optional=True
        ),
        "greedy": Option(bool, "Take the best move if it raises |c|; else Metropolis."),
        "even": Option(bool, "Start evenly spaced at a random rotation."),
        "restarts": Option(int, "Further starts of a run that knows it failed.", least=0),
        "start": Option(str, "Angles to start from.", own="an array", optional=True),
        "k": Option(int, "Size of the set, where rows do not say.", least=1, optional=True),
    },
    "one-step": {
        "width": Option(
            int, "Dimension of random positions; 12 k ln n if absent.", least=1, optional=True
        ),
        "gain": Option(
            float, "Score of the set above the rest; the best if absent.", above=0, optional=True
        ),
        "positions": Option(str, "Position code.", _POSITIONS[1:], own="a code or table"),
    },
    "xor": {
        "width": Option(
            int, "Dimension of random positions; 12 ln n if absent.", least=1, optional=True
        ),
        "positions": Option(str, "Position code; balanced is ours.", _POSITIONS, own="a code"),
        "attention": Option(
            str, "How scores become weights.", _ATTENTION[:5], own="a function of scores"
        ),
        "readout": Option(
            str, "1 - 2z², or 1 - |2z| by two ReLUs.", ("square", "abs"), own="an even function"
        ),
        "loss": _loss._replace(help="Loss trained on; squared and correlation have exact risks."),
        "steps": _steps,
        "gain": Option(
            float, "Step size in units that raise the pair by 1.", above=0, optional=True
        ),
        "optimiser": _optimiser,
        "start": Option(float, "Standard deviation of the random start.", least=0),
        "learn_positions": Option(bool, "Train the positions too."),
        "shared": Option(bool, "One draw of positions for all runs, kept as packed bits."),
        "positions_seed": Option(int, "Seed of the shared positions.", least=0),
    },
    "teacher": {
        "link": _link,
        "mask": Option(str, "What a node sees.", ("token", "level")),
        "eta": _eta._replace(help="Step size; chosen from n, k and N if absent."),
    },
    "levels": {
        "link": _link,
        "eta": _eta._replace(help="Step size; chosen from n, k and N if absent."),
        "strings": Option(int, "Unlabelled strings of the filter.", least=1),
        "epsilon": Option(float, "Threshold of the filter.", above=0, below=2),
        "filtering": Option(bool, "Silence levels above an untrained one."),
        "rounding": Option(bool, "Round scores to integers after each step."),
        "full_gradient": Option(bool, "Differentiate the whole chain instead of one level."),
        "steps": _steps._replace(help="Gradient steps; log2 k if absent.", optional=True),
        "error": Option(float, "Error of every entry of a gradient.", least=0),
    },
    "layers": {
        "link": _link,
        "mask": Option(
            str,
            "What a node sees: the level below, lower levels, earlier tokens, all tokens.",
            ("prev", "level", "token", "none"),
        ),
        "gates": Option(
            str, "Which nodes a layer writes.", ("prescribed", "open", "half", "learnt")
        ),
        "tied": Option(bool, "One matrix for all layers."),
        "rounding": Option(bool, "Round scores to integers after each step."),
        "schedule": Option(
            str,
            "Level by level; all on true tokens, then hidden; all at once, hidden.",
            ("staged", "teacher", "at-once"),
        ),
        "eta": _eta._replace(help="One step size for all levels; each its own if absent."),
    },
    "full-batch": {
        "mode": Option(str, "Which model.", ("direct", "cot", "teacher-full", "selfcheck")),
        "link": _link,
        "eta": _eta._replace(help="Step size; the published one if absent."),
        "steps": _steps._replace(help="Full-batch steps."),
    },
    "hiding-oracle": {
        "epsilon": Option(float, "Error the oracle may make.", least=0),
        "link": _link,
        "eta": _eta._replace(optional=False),
        "steps": _steps,
    },
    "feedforward": {
        "width": Option(int, "Hidden neurons.", least=1),
        "missing": Option(str, "Positions without any edge.", own="a tuple of positions"),
        "inputs": Option(str, "What the net reads.", ("bits", "signs")),
        "batch": Option(int, "Rows per step; all of them if absent.", least=1, optional=True),
        "optimiser": _optimiser,
        "eta": _eta._replace(optional=False),
        "steps": _steps,
    },
    "frozen": {
        "heads": Option(int, "Frozen heads.", least=1),
        "width": Option(int, "Hidden neurons on top.", least=1),
        "token": Option(bool, "Whether the frozen scores depend on the bits."),
        "tau": Option(float, "Temperature of the frozen heads.", above=0),
        "optimiser": _optimiser,
        "eta": _eta._replace(optional=False),
        "steps": _steps,
    },
    "recurrent": {
        "cell": Option(str, "Kind of cell.", ("elman", "lstm")),
        "labels": Option(bool, "Show the running parity at every step."),
        "width": Option(int, "Units of the cell.", least=1),
        "eta": _eta._replace(optional=False),
        "steps": _steps,
    },
    "descent": {
        "model": Option(str, "What trains.", own="a model, or a function from a key to one"),
        "loss": _loss,
        "optimiser": _optimiser,
        "eta": _eta._replace(optional=False),
        "steps": _steps,
        "batch": Option(int, "Rows per step; all of them if absent.", least=1, optional=True),
    },
    "hinge-net": {
        "width": Option(int, "Hidden neurons.", least=1),
        "activation": Option(str, "Kind of neuron.", ("relu", "clipped")),
        "start": Option(float, "Factor of the hidden weights at the start.", above=0),
        "eta": _eta._replace(optional=False),
        "decay": Option(float, "L2 decay of all weights.", least=0),
        "steps": _steps,
        "mixture": Option(float, "Share of rows whose hidden bits share a sign.", least=0),
        "shared_first": Option(float, "Share of the steps, first, on such rows only.", least=0),
        "frozen": Option(bool, "Keep the hidden layer as drawn."),
    },
    "sign-descent": {
        "width": Option(int, "Neurons; 16·2^k if absent.", least=1, optional=True),
        "eta": _eta._replace(optional=False),
        "decay": Option(float, "L2 decay of the weights.", least=0),
        "threshold": Option(float, "Dead zone of the sign, in units of k!.", least=0),
        "steps": _steps,
    },
    "auto": _solver,
    "elimination": _solver,
    "walsh": _solver,
    "meeting": _solver,
    "restarts": _solver,
    "correlation": _solver,
    "attention-on-rows": _solver,
}


def check_settings(learner: str, values: Mapping[str, object]) -> None:
    """Every value against the table; a ValueError names the setting, what it may be, what came."""
    table = OPTIONS[learner]
    check_known(f"setting of {learner}", values, table)
    for name, value in values.items():
        check_value(name, value, table[name])


def check_known(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """A clear error for the first name that is not known, with the nearest that is."""
    for name in given:
        if name not in known:
            close = get_close_matches(str(name), [str(each) for each in known], 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"unknown {what} {name!r}{hint} Known: {', '.join(sorted(known))}")


def check_value(name: str, value: object, option: Option) -> None:
    """One value against one option."""
    if value is None:
        if not option.optional:
            raise ValueError(f"{name} is needed: {option.help}")
    elif option.formula:
        if isinstance(value, bool) or not isinstance(value, str | numbers.Real):
            raise ValueError(f"{name} must be a number or a formula in n, got {told(value)}")
    elif option.choices or option.own:
        _check_choice(name, value, option)
    elif option.type is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, got {told(value)}")
    elif option.type in (int, float):
        _check_number(name, value, option)
    elif not isinstance(value, option.type):
        raise ValueError(f"{name} must be text, got {told(value)}")


def _check_choice(name: str, value: object, option: Option) -> None:
    if isinstance(value, str):
        if option.choices and value not in option.choices:
            close = get_close_matches(value, option.choices, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            or_own = f" or {option.own}" if option.own else ""
            known = ", ".join(option.choices)
            raise ValueError(f"{name} must be one of {known}{or_own}, got {told(value)}{hint}")
        if not option.choices:
            raise ValueError(f"{name} must be {option.own}, got {told(value)}")
    elif not option.own or isinstance(value, bool | numbers.Number):
        wanted = f"one of {', '.join(option.choices)}" if option.choices else option.own
        raise ValueError(f"{name} must be {wanted}, got {told(value)}")
    elif isinstance(value, dict | set | bytes) or _is_unknown(value):
        raise ValueError(f"{name} must be {option.own} of finite numbers, got {told(value)}")


def _is_unknown(value: object) -> bool:
    """Whether an array holds a NaN; its sum is one then, too."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return kind == "f" and math.isnan(float(cast(Any, value).sum()))


def _check_number(name: str, value: object, option: Option) -> None:
    kind = numbers.Integral if option.type is int else numbers.Real
    if isinstance(value, bool) or not isinstance(value, kind):
        wanted = "a whole number" if option.type is int else "a number"
        raise ValueError(f"{name} must be {wanted}, got {told(value)}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {told(value)}")
    for fits, text in (
        (option.least is None or number >= option.least, f"at least {option.least}"),
        (option.above is None or number > option.above, f"above {option.above}"),
        (option.below is None or number < option.below, f"below {option.below}"),
    ):
        if not fits:
            raise ValueError(f"{name} must be {text}, got {told(value)}")
