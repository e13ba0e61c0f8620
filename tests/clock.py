"""Time that goes on when a test says so."""

__all__ = ["Clock"]


class Clock:
    """Tells the seconds that a test has set."""

    now = 6_000.0

    def __call__(self) -> float:
        return self.now
