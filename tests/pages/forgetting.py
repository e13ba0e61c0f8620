"""Clear what a server keeps for all visitors, as by a restart."""

from attention.answer import cache, fetching, jobs, running

KEPT = (
    cache._caches,
    cache.shelf,
    cache.downloads,
    fetching._owned,
    jobs.jobs,
    jobs._owned,
    running.own_files,
    running.measurements,
)


def forget():
    for each in KEPT:
        each.cache_clear()
