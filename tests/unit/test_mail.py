import asyncio
import threading

from attention.ui.mail import Mail
from tests.loops import complete

N = 500


def run(post_all):
    """Let a thread post to a loop; return what was handed over, in order, and how often the loop was woken."""
    handed, wakes = [], []

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: handed.append(context["exception"]))

        def wake(act):
            wakes.append(act)
            loop.call_soon_threadsafe(act)

        mail = Mail(loop, wake)
        is_done = asyncio.Event()

        def finish():
            handed.append("finished")
            is_done.set()

        thread = threading.Thread(target=post_all, args=(mail, handed, finish))
        thread.start()
        await asyncio.wait_for(is_done.wait(), timeout=20)
        thread.join()

    complete(main())
    return handed, len(wakes)


def test_everything_is_handed_over_in_its_order_and_the_loop_is_woken_seldom():
    def post_all(mail, handed, finish):
        for number in range(N):
            mail.post(lambda number=number: handed.append(number), is_urgent=False)
        mail.post(finish, is_urgent=True)

    handed, n_wakes = run(post_all)
    assert handed == [*range(N), "finished"]
    assert n_wakes < N / 10


def test_what_is_not_urgent_comes_without_anything_that_is():
    """A page that computes for long has said before that it does."""

    def post_all(mail, handed, finish):
        handed.append("posted")
        mail.post(finish, is_urgent=False)

    handed, n_wakes = run(post_all)
    assert handed == ["posted", "finished"]
    assert n_wakes == 1


def test_several_runs_after_one_another_stay_in_their_order():
    def post_all(mail, handed, finish):
        for number in range(N):
            mail.post(lambda number=number: handed.append(number), is_urgent=number % 7 == 0)
        # Nothing urgent is left over from before: this waits for its own turn.
        mail.post(finish, is_urgent=False)

    assert run(post_all)[0] == [*range(N), "finished"]


def test_where_one_fails_the_others_do_not():
    error = ValueError("of no use")

    def fail():
        raise error

    def post_all(mail, handed, finish):
        mail.post(lambda: handed.append("before"), is_urgent=False)
        mail.post(fail, is_urgent=False)
        mail.post(finish, is_urgent=True)

    assert run(post_all)[0] == ["before", error, "finished"]
