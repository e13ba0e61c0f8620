from attention.classroom.limits import Limit


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_attempts_come_back_evenly_and_each_has_their_own():
    clock = Clock()
    limit = Limit(3, 30, clock)
    assert [limit.takes("a") for _ in range(5)] == [True, True, True, False, False]
    assert limit.takes("b")
    clock.now = 10
    assert [limit.takes("a"), limit.takes("a")] == [True, False]
    clock.now = 1000
    # However long nobody tries, no more than the whole number is there.
    assert [limit.takes("a") for _ in range(4)] == [True, True, True, False]
