#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What was measured, as a document, and against what was measured before.

usage: bench.py look RESULTS
       bench.py put RESULTS NAME UNIT MACHINE COMMAND ROWS
       bench.py table ROWS
       bench.py check RESULTS NAME ROWS

RESULTS is one JSON document of several runs; ROWS has those of one run, a JSON object
a line.  'look' fails if there is something in RESULTS and it is no such document.
'put' puts a run into it, in place of the one of the same NAME, with today's date.
'table' prints rows for people.  'check' compares instruction counts with those of the
run NAME: one that grew by more than LIMIT fails.
"""
import datetime
import json
import math
import os
import sys

LIMIT = 0.05

# What is not the same each time, and why.
UNSTEADY = {"life": "in it is an estimate of what is spent in any case"}

# The order in the document, whatever came first.
NAMES = ("kernel", "kernel-instructions", "user", "user-instructions", "host", "replay")

# What a run measures, beside memory and the like.
UNITS = ("ns", "instructions")

# Of a row, beside its value: what follows the operation's name in a table.
COLUMNS = {
    "value": "",
    "cpu": ", all CPUs",
    "p50": ", p50",
    "p99": ", p99",
    "p999": ", p99.9",
}


class Wrong(Exception):
    """A file is not what it is to be; says why."""


def is_number(value):
    """JSON's true and false are numbers to Python, and it reads NaN."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and \
        math.isfinite(value)


def is_text(value):
    """A line: it may become one of a table, or of what gnuplot is told."""
    return isinstance(value, str) and value.isprintable()


def look_at_row(row):
    """Of a row that is none, raise what is wrong."""
    if not isinstance(row, dict):
        raise Wrong("a row is no object")
    for name in ("part", "peer", "operation", "unit"):
        if not is_text(row.get(name)):
            raise Wrong(f"a row has no '{name}'")
    if not is_number(row.get("live")) or row["live"] <= 0:
        raise Wrong("a row does not say how many were live")
    if not is_number(row.get("value")) and not is_text(row.get("reason")):
        raise Wrong("a row has neither a value nor a reason")
    for name in COLUMNS:
        if row.get(name) is not None and not is_number(row[name]):
            raise Wrong(f"the '{name}' of a row is no number")


def look_at_run(run):
    """The same of a run."""
    if not isinstance(run, dict):
        raise Wrong("a run is no object")
    if run.get("name") not in NAMES:
        raise Wrong(f"a run is called {run.get('name')!r}")
    for name in ("unit", "machine", "date", "command"):
        if not is_text(run.get(name)):
            raise Wrong(f"the run '{run['name']}' has no '{name}'")
    if run["unit"] not in UNITS:
        raise Wrong(f"the run '{run['name']}' is in {run['unit']!r}")
    if not isinstance(run.get("rows"), list) or not run["rows"]:
        raise Wrong(f"the run '{run['name']}' has no rows")
    for row in run["rows"]:
        look_at_row(row)


def load(path):
    """The document, of which all is there that is relied upon."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise Wrong(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise Wrong(f"{path} is no document of a bench: {error}") from None
    try:
        if not isinstance(document, dict) or not isinstance(document.get("runs"), list):
            raise Wrong("it has no runs")
        for run in document["runs"]:
            look_at_run(run)
        names = [run["name"] for run in document["runs"]]
        if len(set(names)) < len(names):
            raise Wrong("it has a run twice")
    except Wrong as error:
        raise Wrong(f"{path} is no document of a bench: {error}") from None
    return document


def read_rows(path):
    """The rows of a run."""
    try:
        with open(path, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
    except ValueError as error:
        raise Wrong(f"what was measured is no row in JSON: {error}") from None
    for row in rows:
        look_at_row(row)
    return rows


def text_of(document):
    """A row a line, so that a change of one is a line of a diff."""
    text = '{\n "runs": [\n'
    for number, run in enumerate(document["runs"]):
        head = json.dumps({**run, "rows": []}, indent=1)[:-len("[]\n}")]
        text += "," * bool(number) + head + "[\n"
        text += ",\n".join(json.dumps(row) for row in run["rows"]) + "\n]}\n"
    return text + "]}\n"


def put(path, run):
    """Put a run into the document; there is a whole one at any time."""
    document = load(path) if os.path.exists(path) else {"runs": []}
    look_at_run(run)
    runs = [other for other in document["runs"] if other["name"] != run["name"]] + [run]
    runs.sort(key=lambda one: NAMES.index(one["name"]))
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text_of({"runs": runs}))
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def cell(row, column):
    """A figure, or that there is none."""
    if row is None or row.get(column) is None:
        return "-" if row and row["value"] is None else ""
    value = row[column]
    if value == int(value):
        return f"{value:,.0f}"
    digits = next((digits for digits, least in enumerate((100, 10, 1)) if abs(value) >= least), 3)
    return f"{value:,.{digits}f}"


def worth_a_column(row, column):
    """Whether it says something; or says that there is nothing."""
    if column == "value":
        return row["value"] is None or row["value"] != row.get("p50")
    return row.get(column) is not None


def table(path):
    """An operation a block: peers down, live timeouts across."""
    rows = read_rows(path)
    lives = sorted({row["live"] for row in rows})
    reasons = {}
    for operation in dict.fromkeys(row["operation"] for row in rows):
        here = {(row["peer"], row["live"]): row for row in rows
                if row["operation"] == operation}
        unit = next(iter(here.values()))["unit"]
        for column, title in COLUMNS.items():
            if not any(worth_a_column(row, column) for row in here.values()):
                continue
            print(f"\n{operation + title + ', ' + unit:28}" +
                  "".join(f"{live:,}".rjust(14) for live in lives))
            for peer in dict.fromkeys(peer for peer, _ in here):
                cells = [here.get((peer, live)) for live in lives]
                print(f"  {peer:26}" + "".join(cell(row, column).rjust(14) for row in cells))
        for (peer, live), row in here.items():
            if row["value"] is None:
                reasons.setdefault((peer, live, row["reason"]), []).append(operation)
    if reasons:
        print("\nnot measured (-):")
    for (peer, live, reason), operations in reasons.items():
        print(f"  {peer}, {live:,} live: {reason} ({', '.join(operations)})")


def key(row):
    """What makes two rows of two runs the same."""
    return row["part"], row["peer"], row["operation"], row["live"]


def check(path, name, rows):
    """Compare instruction counts; the exit status."""
    runs = [run for run in load(path)["runs"] if run["name"] == name]
    if not runs:
        raise Wrong(f"{path} has no run '{name}': scripts/bench --runs {name} measures it")
    before = {key(row): row for row in runs[0]["rows"]}
    passed = failed = skipped = 0
    for row in read_rows(rows):
        if row["unit"] != "instructions":
            continue
        old = before.get(key(row))
        for what in ("value", "cpu"):
            if row.get(what) is None:
                continue
            title = f"{row['peer']} {row['operation']}, {row['live']} live" + \
                    (", all CPUs" if what == "cpu" else "")
            reason = UNSTEADY.get(row["operation"])
            if reason is None and (old is None or not old.get(what)):
                reason = "there is no figure to compare with"
            if reason:
                skipped += 1
                print(f"  SKIP {title}: {reason}")
                continue
            growth = row[what] / old[what] - 1
            if growth > LIMIT:
                failed += 1
                verdict = "FAIL"
            else:
                passed += 1
                verdict = "ok  "
            print(f"  {verdict} {title}: {row[what]:.1f}, was {old[what]:.1f} ({growth:+.1%})")
    print(f"bench-check: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def main(args):
    """See the head of the file."""
    try:
        if len(args) == 2 and args[0] == "look":
            if os.path.exists(args[1]):
                load(args[1])
            return 0
        if len(args) == 7 and args[0] == "put":
            put(args[1], {"name": args[2], "unit": args[3], "machine": args[4],
                          "date": datetime.date.today().isoformat(), "command": args[5],
                          "rows": read_rows(args[6])})
            return 0
        if len(args) == 2 and args[0] == "table":
            table(args[1])
            return 0
        if len(args) == 4 and args[0] == "check":
            return check(*args[1:])
    except Wrong as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"bench: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
