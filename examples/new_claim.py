"""A claim of your own: paritylab check --file examples/new_claim.py

It asks whether two heads on the circle still learn when a tenth of the labels is flipped.
"""

from paritylab import Evidence, Finding, Rate, Status, Trial, claim, random_targets, train_heads


@claim(
    "my-noise",
    title="Flipped labels slow two heads down but do not stop them",
    statement="With 10 % flipped labels the public code's training still finds B in 1 of 3 runs.",
    expected="holds",
    seconds=(3, 5, 60),
)
def my_noise(trial: Trial) -> Finding:
    runs = trial.pick(quick=40, default=100, full=400)
    steps = trial.pick(quick=400, default=600, full=2000)
    rates = {}
    for noise in trial.track((0.0, 0.1)):
        targets = random_targets(n=10, k=2, runs=runs, seed=trial.seed, noise=noise)
        done = train_heads(targets, "code", steps=steps, seed=trial.seed)
        rates[noise] = Rate.of(done.recovered)
    noisy = rates[0.1]
    return Finding(
        Status.HOLDS if noisy.value > 1 / 3 else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"B is found in {rates[0.0]} of runs without noise and in {noisy} with it.",
            "rate": {str(noise): rate.value for noise, rate in rates.items()},
        },
        margin=noisy.value - 1 / 3,
        interval=noisy.interval,
        runs=2 * runs,
        settings={"n": 10, "k": 2, "steps": steps},
    )
