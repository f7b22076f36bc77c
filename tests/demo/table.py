"""The demo's last word: what became of every order, and whether it adds up."""

from fates import FATES, TOTAL

ENDS = ("succeeded", "parked", "dead-lettered")
LINE = "  {:28} {:>8} {:>10} {:>10} {:>8} {:>14}".format


def rows(shop, lots):
    """(fate, [messages, delivered, succeeded, parked, dead-lettered]) for each fate; all but the first as they were counted."""
    in_lot = {lot.ends: lot.fates() for lot in lots}
    for fate in FATES:
        counted = [shop.delivered, shop.succeeded, in_lot["parked"], in_lot["dead-lettered"]]
        yield fate, [fate.messages, *(counter[fate.name] for counter in counted)]


def is_right(fate, numbers):
    """Each order was delivered as often as its fate says and lies where it says, and nowhere else."""
    _, delivered, *ends = numbers
    expected = [fate.messages if end == fate.ends else 0 for end in ENDS]
    return delivered == fate.messages * fate.deliveries and ends == expected


def table(shop, lots, outcomes):
    """(lines, whether every number is what it must be). `outcomes`: retryd's own count of the deliveries."""
    counted = list(rows(shop, lots))
    sums = [sum(column) for column in zip(*(numbers for _, numbers in counted))]
    _, delivered, succeeded, parked, dead = sums
    told = {word: count for word, count in outcomes.items() if count}
    right = all(is_right(fate, numbers) for fate, numbers in counted)
    agrees = sum(told.values()) == delivered and told.get("success", 0) == succeeded
    verdict = "it adds up, and nothing waits any more." if right and agrees else "IT DOES NOT ADD UP."
    lines = [LINE("fate", "messages", "delivered", "succeeded", "parked", "dead-lettered")]
    lines += [LINE(fate.name, *numbers) for fate, numbers in counted]
    lines += [LINE("total", *sums), ""]
    settled = succeeded + parked + dead
    lines += [f"  {succeeded} succeeded + {parked} parked + {dead} dead-lettered = {settled} of {TOTAL}: {verdict}"]
    lines += [f"  retryd counted {sum(told.values())} deliveries: " + ", ".join(f"{n} {word}" for word, n in told.items()) + "."]
    return lines, right and agrees
