from attention.classroom.limits import Limit


def test_attempts_come_back_evenly_and_each_has_their_own(clock):
    limit = Limit(3, 30, clock)
    assert [limit.takes("a") for _ in range(5)] == [True, True, True, False, False]
    assert limit.takes("b")
    clock.now += 10
    assert [limit.takes("a"), limit.takes("a")] == [True, False]
    clock.now += 990
    # However long nobody tries, no more than the whole number is there.
    assert [limit.takes("a") for _ in range(4)] == [True, True, True, False]
