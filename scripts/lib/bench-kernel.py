#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the rows of timewheel_bench.ko as a table: bench-kernel.py FILE

For each number of live timeouts a line for each operation: what the caller spent
with each peer and, after a slash, what all CPUs did; then the ratios of the
timewheel to timer_list, and the goals, which are for the reader to compare.
"""
import json
import sys

PEERS = ("timewheel", "timer_list", "hrtimer", "delayed_work")

TITLES = {
    "add": "add",
    "transfer": "  worker: transfer",
    "add-at": "add, time known",
    "empty-pass": "  worker: empty pass",
    "moved-pass": "  worker: and moves timer",
    "add-cancel": "add, then cancel",
    "rearm": "rearm later",
    "touch": "touch, or rearm",
    "refile": "  worker: refile touched",
    "cancel": "cancel",
    "unlink": "  worker: unlink",
    "cancel-remote": "cancel, other CPU",
    "one-producer": "add, one producer",
    "two-producers": "add, two producers",
    "expire": "expire, many in a tick",
    "life": "a whole life",
    "memory": "memory, bytes",
}

# Ratios to timer_list: of the caller's share, and of what all CPUs did.  Those of a
# touch are to timer_list's move, which is what it has in its place.
RATIOS = {"add": 0.3, "touch": 0.04, "cancel": 0.12, "cancel-remote": 0.2, "expire": 0.8}
RATIOS_CPU = {
    ("cancel", 10000): 0.2,
    ("cancel", 1000000): 0.4,
    ("life", None): 0.25,
}

# Instructions.
COUNTS = {"add": 90, "cancel": 60, "transfer": 80, "expire": 120, "empty-pass": 300}

TWO_PRODUCERS = 1.5     # times one, each
GROWTH = 1.5            # instructions at a million against ten thousand


def cell(row):
    """The figures of one peer."""
    if row is None:
        return "-"
    if row["value"] is None:
        return "none"
    text = f"{row['value']:,.0f}" if row["value"] >= 100 else f"{row['value']:.1f}"
    if "cpu" in row and row["cpu"] != row["value"]:
        text += f" / {row['cpu']:,.0f}" if row["cpu"] >= 100 else f" / {row['cpu']:.1f}"
    return text


def ratio(rows, operation, what):
    """Of the timewheel to timer_list, or None."""
    ours, theirs = (rows.get((p, operation)) for p in ("timewheel", "timer_list"))
    if not ours or not theirs or ours["value"] is None or not theirs["value"]:
        return None
    over = theirs.get(what, theirs["value"])
    return ours.get(what, ours["value"]) / over if over else None


def shown(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def goals(operation, live, unit):
    """What there is to reach in this line, as words."""
    words = []
    if operation in RATIOS:
        words.append(f"ratio {RATIOS[operation]}")
    for at in (live, None):
        if (operation, at) in RATIOS_CPU:
            words.append(f"cpu ratio {RATIOS_CPU[(operation, at)]}")
    if unit == "instructions" and operation in COUNTS:
        words.append(f"{COUNTS[operation]} instructions")
    if operation == "two-producers":
        words.append(f"{TWO_PRODUCERS} times one")
    return "goal " + ", ".join(words) if words else ""


def print_live(rows, live, unit):
    print(f"\n{live:,} live, {unit} for each operation: the caller's / all CPUs'")
    print(f"  {'':26}" + "".join(f"{p:>18}" for p in PEERS) +
          "   to timer_list: caller's, all")
    for operation, title in TITLES.items():
        line = [rows.get((p, operation)) for p in PEERS]
        if not any(line):
            continue
        text = f"  {title:26}" + "".join(f"{cell(r):>18}" for r in line)
        text += f"{shown(ratio(rows, operation, 'value')):>9}"
        both = ratio(rows, operation, "cpu") if any(r and "cpu" in r for r in line) else None
        text += f"{shown(both):>7}   {goals(operation, live, unit)}"
        print(text.rstrip())
    for peer in PEERS:
        one, two = (rows.get((peer, o)) for o in ("one-producer", "two-producers"))
        if one and two and one["value"] and two["value"]:
            print(f"  {peer}: two producers at once cost each "
                  f"{two['value'] / one['value']:.2f} times one")


def print_growth(table):
    """How the timewheel's instructions grow from ten thousand to a million."""
    few, many = (table.get(n, {}) for n in (10000, 1000000))
    said = []
    for operation in TITLES:
        a, b = (rows.get(("timewheel", operation)) for rows in (few, many))
        if not a or not b or not a["value"] or not b["value"] or operation == "memory":
            continue
        said.append(f"{operation} {b.get('cpu', b['value']) / a.get('cpu', a['value']):.2f}")
    if said:
        print(f"\ntimewheel, a million live against ten thousand, all CPUs "
              f"(goal {GROWTH}): " + ", ".join(said))


def main():
    table = {}
    reasons = {}
    unit = None
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            table.setdefault(row["live"], {})[(row["peer"], row["operation"])] = row
            if row["operation"] != "memory":
                unit = row["unit"]
            if row["value"] is None:
                reasons.setdefault((row["peer"], row["operation"], row["reason"]),
                                   []).append(row["live"])
    for live in sorted(table):
        print_live(table[live], live, unit)
    if unit == "instructions":
        print_growth(table)
    if reasons:
        print("\nnone:")
        for (peer, operation, reason), lives in reasons.items():
            print(f"  {peer}, {operation}, {', '.join(f'{n:,}' for n in lives)} live: {reason}")


main()
