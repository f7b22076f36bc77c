"""Comparisons are interleaved: A B C A B C …, so that what disturbs the machine meets all of them."""

import statistics


def interleave(variants, rounds):
    """{name: function} → {name: [what each call returned]}, in rounds."""
    results = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            results[name].append(run())
    return results


def median_of(results, key):
    return statistics.median(result[key] for result in results)


def ratios(ours, theirs, key):
    """Round by round."""
    return [one[key] / other[key] for one, other in zip(ours, theirs)]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
