#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What was measured, as a file, as charts, and against what was measured before.

usage: bench.py results COMMAND (NAME UNIT MACHINE ROWS)...
       bench.py table ROWS
       bench.py charts RESULTS DIR
       bench.py check RESULTS NAME ROWS

'results' puts the rows of runs, a JSON object a line, into one document on standard
output.  'table' prints rows of one run for people.  'charts' writes what gnuplot is to draw into DIR, SVG and PNG, to standard
output.  'check' compares instruction counts with those of the run NAME in RESULTS:
one that grew by more than LIMIT fails.
"""
import datetime
import json
import sys

LIMIT = 0.05

# What is in each chart: the title of a part's chart, and its operations.  What was
# not measured is left out.
CHARTS = (
    ("kernel", "ns", "kernel code: ns for each",
     (("add", "arm"), ("rearm", "move the deadline"), ("cancel", "cancel"),
      ("add-cancel", "arm, then cancel"), ("expire", "expire, many in a tick"),
      ("life", "a whole life, all CPUs"))),
    ("kernel", "instructions", "kernel code: instructions for each",
     (("add", "arm"), ("rearm", "move the deadline"), ("cancel", "cancel"),
      ("add-cancel", "arm, then cancel"), ("expire", "expire, many in a tick"),
      ("life", "a whole life, all CPUs"))),
    ("user", "ns", "programs: ns for each",
     (("arm", "arm"), ("refresh", "refresh"), ("cancel", "cancel one at random"),
      ("expire", "expire, and learn which"))),
    ("user", "instructions", "programs: instructions for each",
     (("arm", "arm"), ("refresh", "refresh"), ("cancel", "cancel one at random"),
      ("expire", "expire, and learn which"))),
)

# Of what all CPUs did; of the others the caller's share is drawn.
ALL_CPUS = {"life", "expire"}

STYLES = ("#c0392b", "#2c3e50", "#2980b9", "#16a085", "#8e44ad", "#d35400", "#7f8c8d",
          "#f39c12", "#27ae60", "#34495e", "#e84393", "#6c5ce7")


def read_rows(path):
    """The rows of a run."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def results(command, runs):
    """One document of all runs."""
    document = {
        "command": command,
        "date": datetime.date.today().isoformat(),
        "runs": [{"name": name, "unit": unit, "machine": machine,
                  "rows": read_rows(rows)}
                 for name, unit, machine, rows in runs],
    }
    # A row a line, so that a change of one is a line of a diff.
    text = json.dumps({**document, "runs": []}, indent=1)[:-len("[]\n}")] + "[\n"
    for number, run in enumerate(document["runs"]):
        head = json.dumps({**run, "rows": []})[:-len("[]}")]
        text += "," * bool(number) + head + "[\n"
        text += ",\n".join(json.dumps(row) for row in run["rows"]) + "\n]}\n"
    print(text + "]}")


def cell(row):
    """A figure, or why there is none."""
    if row is None:
        return ""
    if row["value"] is None:
        return "-"
    digits = 0 if row["value"] >= 100 else 1 if row["value"] >= 1 else 3
    return f"{row['value']:,.{digits}f}"


def table(path):
    """An operation a block: peers down, live timeouts across."""
    rows = read_rows(path)
    lives = sorted({row["live"] for row in rows})
    reasons = []
    for operation in dict.fromkeys(row["operation"] for row in rows):
        here = {(row["peer"], row["live"]): row for row in rows
                if row["operation"] == operation}
        unit = next(iter(here.values()))["unit"]
        print(f"\n{operation + ', ' + unit:20}" +
              "".join(f"{live:,}".rjust(14) for live in lives))
        for peer in dict.fromkeys(peer for peer, _ in here):
            cells = [here.get((peer, live)) for live in lives]
            print(f"  {peer:18}" + "".join(cell(row).rjust(14) for row in cells))
            reasons += [f"{peer}, {operation}, {row['live']:,} live: {row['reason']}"
                        for row in cells if row and row["value"] is None]
    if reasons:
        print("\nnot measured (-):")
        print("\n".join("  " + reason for reason in dict.fromkeys(reasons)))


def load(path):
    """A document that results() made."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def figure(row, operation):
    """What is drawn of a row, or None."""
    if row["value"] is None:
        return None
    return row.get("cpu", row["value"]) if operation in ALL_CPUS else row["value"]


def lines_of(rows, operation):
    """{peer: [(live, figure)]}, in the order in which the peers came."""
    lines = {}
    for row in rows:
        if row["operation"] != operation:
            continue
        value = figure(row, operation)
        if value is not None and value > 0:
            lines.setdefault(row["peer"], []).append((row["live"], value))
    return lines


def quoted(text):
    """For gnuplot: single quotes, and nothing in it means anything."""
    return "'" + text.replace("'", "''") + "'"


def plot(lines, title, colours):
    """Commands for one plot of a chart."""
    print(f"set title {quoted(title)}")
    parts = []
    for peer, points in lines.items():
        print(f"$d{colours[peer]} << end_of_data")
        for live, value in sorted(points):
            print(live, value)
        print("end_of_data")
        parts.append(f"$d{colours[peer]} with linespoints linestyle {colours[peer]}"
                     f" title {quoted(peer)}")
    print("plot " + ", \\\n  ".join(parts))


def begin(directory, name, kind, title, plots):
    """Commands for a file with so many plots."""
    columns = 2 if plots > 1 else 1
    rows = -(-plots // columns)
    width, height = 560 * columns, 380 * rows + 40
    print("reset session")
    # Colours and labels must not depend on where it is drawn.
    if kind == "svg":
        print(f"set terminal svg size {width},{height} font 'sans,13' background '#ffffff'")
    else:
        print(f"set terminal pngcairo size {width},{height} font 'sans,10'")
    print(f"set output {quoted(f'{directory}/{name}.{kind}')}")
    print(f"set multiplot layout {rows},{columns} title {quoted(title)} noenhanced")
    print("set title noenhanced\nset key left top noenhanced samplen 2\nset grid")
    for number, colour in enumerate(STYLES, 1):
        print(f"set style line {number} linecolor rgb '{colour}' linewidth 2 "
              f"pointtype {number} pointsize 0.7")


def charts_cost(document, directory):
    """Cost against the number of live timeouts."""
    for part, unit, title, operations in CHARTS:
        rows = [row for run in document["runs"] if run["unit"] == unit
                for row in run["rows"] if row["part"] == part and row["unit"] == unit]
        plots = [(name, lines_of(rows, name)) for name, _ in operations]
        plots = [(dict(operations)[name], lines) for name, lines in plots if lines]
        if not plots:
            continue
        peers = list(dict.fromkeys(peer for _, lines in plots for peer in lines))
        colours = {peer: number % len(STYLES) + 1 for number, peer in enumerate(peers)}
        for kind in ("svg", "png"):
            begin(directory, f"{part}-{unit}", kind, title, len(plots))
            print("set logscale xy\nset format x '10^{%T}'\nset xlabel 'live timeouts'")
            for name, lines in plots:
                plot(lines, name, colours)
            print("unset multiplot\nunset output")


def charts_lateness(document, directory):
    """How late an expiry is heard of."""
    rows = [row for run in document["runs"] for row in run["rows"]
            if run["unit"] == "ns" and row["part"] == "user" and
            row["operation"] == "lateness" and row["value"] is not None]
    if not rows:
        return
    live = max(row["live"] for row in rows)
    # As many as most of them reach.
    for candidate in sorted({row["live"] for row in rows}, reverse=True):
        if sum(row["live"] == candidate for row in rows) * 2 > len({row["peer"] for row in rows}):
            live = candidate
            break
    rows = [row for row in rows if row["live"] == live]
    for kind in ("svg", "png"):
        begin(directory, "lateness", kind, "", 1)
        print("$late << end_of_data")
        for row in rows:
            print(quoted(row["peer"]).replace("'", '"'),
                  *(max(row.get(p, 0), 1) / 1000 for p in ("p50", "p99", "p999")))
        print("end_of_data")
        print(f"set title 'how late an expiry is heard of, {live} live, microseconds'")
        print("set style data histogram\nset style histogram clustered gap 1")
        print("set style fill solid 0.8 border -1\nset logscale y\nset xtics rotate by -30")
        print("set xtics noenhanced")
        print("plot $late using 2:xtic(1) title '50 %' linecolor rgb '#2980b9', "
              "'' using 3 title '99 %' linecolor rgb '#f39c12', "
              "'' using 4 title '99.9 %' linecolor rgb '#c0392b'")
        print("unset multiplot\nunset output")


def key(row):
    """What makes two rows of two runs the same."""
    return row["part"], row["peer"], row["operation"], row["live"]


def check(path, name, rows):
    """Compare instruction counts; the exit status."""
    runs = [run for run in load(path)["runs"] if run["name"] == name]
    if not runs:
        sys.exit(f"bench-check: {path} has no run '{name}': make bench measures it")
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
            if old is None or not old.get(what):
                skipped += 1
                print(f"  SKIP {title}: there is no figure to compare with")
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
    if len(args) > 2 and args[0] == "results" and len(args) % 4 == 2:
        results(args[1], [args[i:i + 4] for i in range(2, len(args), 4)])
        return 0
    if len(args) == 2 and args[0] == "table":
        table(args[1])
        return 0
    if len(args) == 3 and args[0] == "charts":
        document = load(args[1])
        charts_cost(document, args[2])
        charts_lateness(document, args[2])
        return 0
    if len(args) == 4 and args[0] == "check":
        return check(*args[1:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
