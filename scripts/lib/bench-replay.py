#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What 'timewheel replay --json' printed, as rows of a bench.

usage: bench-replay.py look REPLAY SPEED
       bench-replay.py rows REPLAYS

'look' prints how many events a trace has, how many seconds a play at SPEED lasts, and
how many connections are open at once.  'rows' takes two replays, the second of which
counted system calls and is asked for nothing else: they take longer then.  It prints
a JSON object a line, and fails if a timeout was early, missing, or expired twice.
"""
import json
import math
import sys

WRONG = ("early", "missing", "twice")


def replays(path):
    """The JSON objects of a file, as far as they are whole."""
    with open(path, encoding="utf-8") as file:
        text = file.read().strip()
    decoder = json.JSONDecoder()
    found = []
    while text:
        try:
            replay, end = decoder.raw_decode(text)
        except ValueError:
            break
        found.append(replay)
        text = text[end:].lstrip()
    return found


def look(path, speed):
    """What is in a trace."""
    replay = replays(path)[0]
    seconds = (replay["lasts_ns"] + replay["idle_ns"]) / 1e9 / speed
    print(replay["events"], math.ceil(seconds), replay["at_once"])


def row(replay, backend, operation, unit, value, **more):
    """A line of the output."""
    print(json.dumps({"part": "replay", "peer": backend["name"], "operation": operation,
                      "live": replay["at_once"], "unit": unit, "value": value, **more},
                     separators=(",", ":")))


def measured(replay, backend):
    """The rows of the first play with a backend."""
    events = backend["events"]
    cpu = backend["process_cpu_ns"] + backend.get("worker_cpu_ns", 0)
    row(replay, backend, "event", "ns", round(backend["in_calls_ns"] / events, 1),
        cpu=round(cpu / events, 1))
    p50, p99, p999 = (backend[f"late_{p}_ns"] for p in ("p50", "p99", "p999"))
    row(replay, backend, "lateness", "ns", p50, p50=p50, p99=p99, p999=p999)
    for what in WRONG:
        row(replay, backend, what, "count", backend[what])
    row(replay, backend, "on-the-edge", "count",
        backend["edge"]["late"] + backend["edge"]["unheard"])


def counted(replay, backend):
    """The row of the second play."""
    if "system_calls" in backend:
        row(replay, backend, "syscalls", "count",
            round(backend["system_calls"] / backend["events"], 4))
    else:
        row(replay, backend, "syscalls", "count", None,
            reason="the tracepoint of system calls cannot be read there")


def check(backend):
    """Whether all was as the trace says; if not it is told."""
    bad = {what: backend[what] for what in WRONG if backend[what]}
    if bad:
        said = ", ".join(f"{number} {what}" for what, number in bad.items())
        print(f"bench-replay: {backend['name']} is wrong: of {backend['armed']} timeouts "
              f"{said}", file=sys.stderr)
    return not bad


def rows(path):
    """All rows; the exit status."""
    played = replays(path)
    for backend in played[0]["backends"] if played else ():
        measured(played[0], backend)
    for backend in played[1]["backends"] if len(played) == 2 else ():
        counted(played[1], backend)
    good = [check(backend) for replay in played for backend in replay["backends"]]
    return 0 if all(good) and len(played) == 2 else 1


def main(args):
    """See the head of the file."""
    if len(args) == 3 and args[0] == "look":
        look(args[1], float(args[2]))
        return 0
    if len(args) == 2 and args[0] == "rows":
        return rows(args[1])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
