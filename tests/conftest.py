"""What all tests share: how Hypothesis looks for examples."""

from hypothesis import settings

# No deadline: the machine may be busy. Derandomised: a red test is red again.
settings.register_profile("all", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("all")
