"""Servers with caches, simulated: how often a namespace is in memory, and how long the slowest calls take.

Run ``python -m benchmarks.cache_simulation [--plot FILE]``. Users come by a Zipf law, stay for some minutes
and make some calls meanwhile, each a recall or a write of their namespace. A call goes to the server that its
namespace belongs to ("sticky") or to any ("random"). A server keeps the namespaces used last within its
memory, and works on as many calls at once as it has processors; the others wait. What a call costs when its
namespace is there, when it has to be loaded, and when it writes, are the measured figures of docs/scale.md.

Servers are alike, so one of them is simulated, with the part of all calls that reaches it. Nothing here is
measured: it is arithmetic with chance, which follows from the seed.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from collections import OrderedDict
from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray

SERVERS = (10, 20, 50, 100, 200, 500, 1000)


@frozen(kw_only=True)
class Costs:
    """Milliseconds of a processor that a call takes."""

    hit: float = 2.6
    miss: float = 7.0
    write: float = 5.9


@frozen(kw_only=True)
class Load:
    """Who calls, how often, and what a server is."""

    users: int = 100_000
    """For each server there is."""
    zipf: float = 0.8
    """The exponent: the user of rank r comes in proportion to r to the power of minus this."""
    calls_a_second: float = 100.0
    """That reach a server at the peak."""
    calls: int = 10
    """Of one visit."""
    gap: float = 60.0
    """Mean seconds between two calls of a visit."""
    writes: float = 1 / 3
    """The share of calls that write."""
    cached: int = 5_000
    """How many namespaces a server keeps."""
    cores: int = 4


@frozen
class Outcome:
    """What a simulation gives; times in milliseconds."""

    hit_rate: float
    median: float
    p99: float


def calls_of(
    load: Load, servers: int, seconds: float, chance: np.random.Generator, *, sticky: bool
) -> tuple[FloatArray, IntArray]:
    """Return when calls reach one server, in order, and whose they are."""
    visits = load.calls_a_second * seconds / load.calls * (1 if sticky else servers)
    share = 1.0 if sticky else 1 / servers
    # How many visits have so many of their calls here.
    counts = [
        chance.poisson(visits * comb(load.calls, here) * share**here * (1 - share) ** (load.calls - here))
        for here in range(1, load.calls + 1)
    ]
    of_visit = np.repeat(np.arange(1, load.calls + 1), counts)
    population = load.users * (1 if sticky else servers)
    bounds = np.cumsum(np.arange(1, population + 1, dtype=np.float64) ** -load.zipf)
    users = np.searchsorted(bounds, chance.random(len(of_visit)) * bounds[-1])
    start = chance.random(len(of_visit)) * seconds
    owner = np.repeat(np.arange(len(of_visit)), of_visit)
    # A visit lasts as long whether all of its calls come here or one.
    at = start[owner] + chance.random(len(owner)) * load.gap * load.calls
    order = np.argsort(at, kind="stable")
    return at[order] * 1000, users[owner][order]


def simulated(
    load: Load, costs: Costs, servers: int, *, sticky: bool, seconds: float = 2400.0, seed: int = 1
) -> Outcome:
    """Return what becomes of the calls; the first half of the time only fills the cache.

    >>> load = Load(users=1000, calls_a_second=5.0, cached=200)
    >>> one, other = (simulated(load, Costs(), 10, sticky=way).hit_rate for way in (True, False))
    >>> one > other
    True
    """
    chance = np.random.default_rng(seed)
    at, users = calls_of(load, servers, seconds, chance, sticky=sticky)
    writes = chance.random(len(at)) < load.writes
    cache: OrderedDict[int, None] = OrderedDict()
    free = [0.0] * load.cores
    there = np.zeros(len(at), np.bool_)
    waits: FloatArray = np.zeros(len(at))
    for number, (time, user, writing) in enumerate(
        zip(at.tolist(), users.tolist(), writes.tolist(), strict=True)
    ):
        there[number] = user in cache
        cache[user] = None
        cache.move_to_end(user)
        if len(cache) > load.cached:
            cache.popitem(last=False)
        cost = (costs.write if writing else costs.hit) + (0 if there[number] else costs.miss - costs.hit)
        end = max(time, free[0]) + cost
        heapq.heapreplace(free, end)
        waits[number] = end - time
    late = at > seconds * 500
    return Outcome(
        float(there[late].mean()), float(np.median(waits[late])), float(np.quantile(waits[late], 0.99))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, and draw it where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--users", type=int, default=100_000, help="for each server")
    parser.add_argument("--calls", type=float, default=100.0, help="calls a second for each server")
    parser.add_argument("--cached", type=int, default=5_000, help="namespaces that a server keeps")
    parser.add_argument("--seconds", type=float, default=2400.0, help="of simulated time")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args(arguments)
    load = Load(users=options.users, calls_a_second=options.calls, cached=options.cached)
    columns = ("sticky: hits", "median, ms", "p99, ms", "random: hits", "median, ms", "p99, ms")
    print(f"| servers | calls a second | {' | '.join(columns)} |\n|{'--:|' * 8}")
    # Whoever is sticky does not notice how many others there are.
    own = simulated(load, Costs(), 1, sticky=True, seconds=options.seconds)
    table = {}
    for servers in SERVERS:
        any_server = simulated(load, Costs(), servers, sticky=False, seconds=options.seconds)
        table[servers] = own, any_server
        cells = (f"{one.hit_rate:.0%} | {one.median:.1f} | {one.p99:.1f}" for one in table[servers])
        print(f"| {servers:,} | {options.calls * servers:,.0f} | {' | '.join(cells)} |", flush=True)
    if options.plot:
        drawn(table, options.plot)
    return 0


def drawn(table: dict[int, tuple[Outcome, Outcome]], file: Path) -> None:
    """Draw hit rates and tails by the number of servers."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (rates, tails) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for way, name, colour in ((0, "sticky", "#3b6fb6"), (1, "random", "#c2572b")):
        rows = [outcomes[way] for outcomes in table.values()]
        rates.plot(SERVERS, [100 * row.hit_rate for row in rows], "o-", color=colour, label=name)
        tails.plot(SERVERS, [row.p99 for row in rows], "o-", color=colour, label=f"{name}, p99")
        tails.plot(SERVERS, [row.median for row in rows], "o--", color=colour, label=f"{name}, median")
    rates.set(xscale="log", xlabel="servers", ylabel="namespace in memory, %", ylim=(0, 100))
    tails.set(xscale="log", xlabel="servers", ylabel="ms a call", ylim=(0, None))
    for axes in (rates, tails):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    sys.exit(main())
