"""Which queue of a port a data packet takes, after docs/queueing.md."""

from __future__ import annotations

from reference_case import Case


def queue_count(case: Case) -> int:
    """Queues of a port."""
    match case.queueing:
        case "single":
            return 1
        case "voqnet":
            return len(case.hosts)
        case _:
            return case.queues


def lanes(case: Case) -> int:
    """Virtual channels of a port that are in use in each network and level."""
    datas = sum(name.startswith(("data", "speculative")) for name in case.classes)
    return case.controls + datas * queue_count(case)


def queue_of(case: Case, destination: int, network: int, ahead: int) -> int:
    """The queue, modulo their number, of a packet that takes the output `ahead` of the next switch."""
    match case.queueing:
        case "dbbq" if case.orders and case.orders[network][0] != "x":
            place, length = case.column(destination)
            return place * case.queues // length
        case "voqsw" | "damq":
            return ahead
        case "bbq" | "dbbq":
            return destination * case.queues // len(case.hosts)
        case _:
            return destination
