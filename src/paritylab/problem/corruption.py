"""What is wrong with the rows that a learner is shown."""

from dataclasses import dataclass

from paritylab._support.checks import shortened


@dataclass(frozen=True)
class Corruption:
    """Errors of the rows that train, on top of the target's own label noise.

    The trained model is always judged on the target itself.

    flips: probability that a label is flipped. tokens: probability that a token of a chain of
    thought is flipped, each on its own, without changing the later ones.
    """

    flips: float = 0.0
    tokens: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 <= value < 0.5:
                raise ValueError(f"{name} must be a share below 0.5, got {shortened(value)}")

    def noise(self, noise: float) -> float:
        """The label noise of rows whose target has noise of its own.

        >>> Corruption(flips=0.1).noise(0.0), round(Corruption(flips=0.1).noise(0.2), 6)
        (0.1, 0.26)
        """
        return noise * (1 - self.flips) + (1 - noise) * self.flips
