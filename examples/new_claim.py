"""A claim of your own. Run it:  paritylab check --file examples/new_claim.py --effort quick

measure() runs things and returns a record; judge() turns the record into a verdict and could say
otherwise: the table at the end shows that it can (python examples/new_claim.py).
"""

from paritylab import (
    Heads,
    Judged,
    Population,
    Rate,
    Trial,
    claim,
    holds,
    learn,
    random_parities,
    record,
    refuted,
    shown,
    undecided,
)


@record()
class Found:
    """What was measured; the row shows each field under its name."""

    clean: Rate = shown("runs that find the hidden bits")
    noisy: Rate = shown("runs that do with flipped labels", predicted="> 1 of 3")


@claim(
    "my-noise",
    title="Flipped labels slow two heads down but do not stop them",
    statement="With 10 % flipped labels two heads still find both bits in more than 1 of 3 runs.",
    quick={"runs": 60, "steps": 400},  # default effort is what the signature says
    settings={"n": 10, "k": 2},
    seconds=(5, 8, 60),
)
def measure(trial: Trial, runs: int = 100, steps: int = 600, *, noise: float = 0.1) -> Found:
    rates = []
    for flipped in trial.track((0.0, noise)):
        data = Population(random_parities(n=10, k=2, runs=runs, key=trial.seed, noise=flipped))
        rates.append(learn(Heads.code(steps=steps), data, key=trial.seed).rate())
    return Found(*rates)


@measure.judge
def judge(found: Found) -> Judged:
    noisy = found.noisy
    text = f"Both bits are found in {noisy} runs with flipped labels, {found.clean} without."
    if noisy.low > 1 / 3:
        return holds(text, margin=noisy.low - 1 / 3, interval=noisy)
    if noisy.high < 1 / 3:
        instead = f"They are found in {noisy} runs."
        return refuted(text, instead=instead, margin=1 / 3 - noisy.high, interval=noisy)
    return undecided(f"{text} 1 of 3 is not excluded.", interval=noisy)


@measure.planted("labels that are coin flips", turns="refuted")
def coin_flips(trial: Trial) -> Found:
    return measure.measure(trial, 60, 400, noise=0.5)


if __name__ == "__main__":  # invented records: each must get its verdict
    for successes, verdict in ((60, "holds"), (34, "undecided"), (5, "refuted")):
        invented = Found(Rate(90, 100), Rate(successes, 100))
        assert measure.verdict_on(invented).status == verdict, verdict
        print(f"{successes} of 100: {verdict}")
