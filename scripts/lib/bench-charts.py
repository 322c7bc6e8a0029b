#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Charts of a document that scripts/bench wrote: bench-charts.py RESULTS DIR

Writes what gnuplot is to draw into DIR to standard output: each chart as SVG and as
PNG, laid out here to the pixel.  The same document gives the same bytes.
"""
import math
import os
import sys

from bench import Wrong, load

# The wheel stands out: warm and thick.  A peer has its colour in all charts.
OURS = {
    "timewheel": "#c0392b",
    "timewheel-ring": "#c0392b",
    "timewheel-lease": "#f39c12",
    "timewheel-batch": "#8e1b5e",
    "timewheel-ioctl": "#e8837a",
}
PEERS = {
    "timer_list": "#2c3e50",
    "hrtimer": "#2980b9",
    "delayed_work": "#16a085",
    "user-wheel": "#2c3e50",
    "user-heap": "#7f8c8d",
    "timerfd": "#85b4d9",
    "timerfd-epoll": "#2471a3",
    "posix-timer": "#8e7cc3",
    "io_uring": "#16a085",
    "libevent": "#82a83c",
    "libuv": "#a58b6f",
    "netty": "#aab7b8",
}
COLOURS = {**OURS, **PEERS}
STYLES = {peer: number for number, peer in enumerate(COLOURS, 1)}
# Filled for the wheel; gnuplot's numbers.
POINTS = (7, 5, 9, 11, 13)
PEER_POINTS = (4, 6, 8, 10, 12, 1, 2, 3)

GREY = "#555555"
LATE = (("p50", "half of the expiries", 7), ("p99", "99 % of them", 5),
        ("p999", "99.9 % of them", 9))
QUANTILES = [name for name, _, _ in LATE]

# In pixels.
PANEL_WIDTH, PANEL_HEIGHT = 380, 290
HEAD, LEGEND_LINE, LINE = 62, 22, 26


class Panel:
    """A plot of cost against the number of live timeouts."""

    def __init__(self, title, operations, column="value", unit=None):
        self.title = title
        self.operations = operations    # their sum is drawn
        self.column = column
        self.unit = unit

    def lines(self, rows):
        """{peer: {live: figure}}, of those for which there are all operations."""
        found = {}
        for row in rows:
            value = row.get(self.column)
            if row["operation"] in self.operations and value is not None:
                found.setdefault((row["peer"], row["live"]), []).append(value)
        lines = {}
        for (peer, live), values in found.items():
            if len(values) == len(self.operations) and sum(values) > 0:
                lines.setdefault(peer, {})[live] = sum(values)
        return lines


KERNEL = (
    Panel("arm, the caller", ("add",)),
    Panel("move the deadline, the caller", ("rearm",)),
    Panel("cancel, the caller", ("cancel",)),
    Panel("arm, all CPUs", ("add",), "cpu"),
    Panel("move the deadline, all CPUs", ("rearm",), "cpu"),
    Panel("cancel, all CPUs", ("cancel",), "cpu"),
    Panel("put off by a touch (peers: move)", ("touch",)),
    Panel("expire, many in a tick, all CPUs", ("expire",), "cpu"),
    Panel("a whole life, all CPUs", ("life",), "cpu"),
)
MEMORY = Panel("memory, kernel's and process's", ("memory-kernel", "memory-process"), unit="bytes")
CALLS = (
    Panel("arm, the caller", ("arm",)),
    Panel("refresh, the caller", ("refresh",)),
    Panel("cancel, the caller", ("cancel",)),
    Panel("arm, all CPUs", ("arm",), "cpu"),
    Panel("refresh, all CPUs", ("refresh",), "cpu"),
    Panel("cancel, all CPUs", ("cancel",), "cpu"),
    Panel("expire, and learn which, all CPUs", ("expire",), "cpu"),
)
# Instructions are counted on one CPU.
TIMES = (*CALLS, Panel("arm from two threads, each", ("arm-2-threads",)), MEMORY)
COUNTS = (*CALLS, Panel("learn which, the caller", ("expire",)), MEMORY)
COSTS = (
    ("kernel", "What a timeout costs kernel code", KERNEL),
    ("kernel-instructions", "What a timeout costs kernel code, in instructions", KERNEL),
    ("user", "What a timeout costs a program", TIMES),
    ("user-instructions", "What a timeout costs a program, in instructions", COUNTS),
    ("host", "What a timeout costs a program, of what needs no module, at native speed", TIMES),
)

Y_LABELS = {
    "ns": "nanoseconds each",
    "instructions": "instructions each",
    "bytes": "bytes each",
}


def quoted(text):
    """For gnuplot: in single quotes nothing means anything."""
    return "'" + text.replace("'", "''") + "'"


def short(value):
    """A number on an axis: 20, 5k, 1M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def exact(value):
    """A figure beside what is drawn of it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def duration(ns):
    """A duration on an axis."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def ticks(low, high, near):
    """
    Round numbers for a logarithmic axis, from below low to above high: powers of ten,
    and some between if that is less than near times as much.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low < near else (1,)
    marks = [step * 10.0 ** power for power in range(first, last + 1) for step in steps]
    below = max(mark for mark in marks if mark <= low)
    above = min((mark for mark in marks if mark >= high), default=10.0 ** last)
    return [mark for mark in marks if below <= mark <= above]


def tick_words(marks, word):
    """The same for 'set tics'."""
    return ", ".join(f"{quoted(word(mark))} {mark:g}" for mark in marks)


class Chart:
    """A canvas of so many pixels, on which gnuplot is told where to draw."""

    def __init__(self, path, kind, width, height):
        self.width, self.height = width, height
        print("reset session")
        if kind == "svg":
            terminal = f"svg name {quoted(os.path.basename(path).replace('-', '_'))}"
            self.family, self.scale = "sans-serif", 1
        else:
            # It takes points, not pixels.
            terminal = "pngcairo"
            self.family, self.scale = "sans", 10 / 13
        print(f"set terminal {terminal} size {width},{height} noenhanced "
              f"{self.font(13)} background '#ffffff'")
        print(f"set output {quoted(f'{path}.{kind}')}\nset multiplot")
        print("set style line 100 linecolor rgb '#dddddd' linewidth 1")
        for peer, number in STYLES.items():
            ours = peer in OURS
            points = POINTS if ours else PEER_POINTS
            print(f"set style line {number} linecolor rgb '{COLOURS[peer]}' "
                  f"linewidth {3 if ours else 1.5} "
                  f"pointtype {points[number % len(points)]} pointsize 0.8")

    def font(self, pixels):
        """A font of that height."""
        return f"font '{self.family},{pixels * self.scale:.4g}'"

    def place(self, left, top, right, bottom):
        """Where the next plot's frame is, in pixels from above."""
        print(f"set lmargin at screen {left / self.width:.5f}\n"
              f"set rmargin at screen {right / self.width:.5f}\n"
              f"set tmargin at screen {1 - top / self.height:.5f}\n"
              f"set bmargin at screen {1 - bottom / self.height:.5f}")

    def text(self, x, y, text, pixels=13, colour="#000000"):
        """Words that belong to the next plot."""
        print(f"set label {quoted(text)} at screen {x / self.width:.5f},"
              f"{1 - y / self.height:.5f} left {self.font(pixels)} "
              f"textcolor rgb '{colour}'")

    def head(self, title, run):
        """The title, and below it on what it was measured, in a plot of their own."""
        self.text(14, 20, title, 18)
        self.text(14, 43, f"{run['machine']}: {run['command']}", 12, GREY)
        self.bare()

    def legend(self, keys, top, columns):
        """What stands for what: words and how they are drawn, in lines."""
        for number, (words, how) in enumerate(keys):
            x = 14 + number % columns * (self.width - 28) / columns
            y = top + number // columns * LEGEND_LINE + LEGEND_LINE / 2
            self.text(x + 44, y, words)
            # A plot that is only as large as the sample.
            self.place(x, y - 8, x + 38, y + 8)
            self.frameless()
            samples = (0.5,) if how.startswith("with points") else (0, 0.5, 1)
            print(f"plot '-' {how}")
            print("\n".join(f"{at} 0.5" for at in samples) + "\ne\nunset label")

    def frameless(self):
        """For a plot that is none."""
        print("unset border\nunset tics\nunset key\nunset grid\nunset logscale\n"
              "unset xlabel\nunset ylabel\nunset title\nset xrange [-0.1:1.1]\nset yrange [0:1]")

    def bare(self):
        """A plot of nothing but words."""
        self.place(0, 0, self.width, self.height)
        self.frameless()
        print("plot NaN\nunset label")

    def frame(self, title):
        """What all real plots have."""
        print("set border 3 linecolor rgb '#888888'\nunset key\n"
              "set grid back linestyle 100\nunset logscale\n"
              "set tics textcolor rgb '#333333'\n"
              f"set title {quoted(title)} {self.font(14)} offset 0,-0.4")

    def end(self):
        """Nothing more comes."""
        print("unset multiplot\nunset output")


def line_keys(peers):
    """The legend's part for peers that are lines."""
    return [(peer, f"with linespoints linestyle {STYLES[peer]}") for peer in peers]


def draw_costs(path, kind, title, run, plots, peers):
    """Panels of cost against the number of live timeouts, three in a row."""
    columns = min(3, len(plots))
    width = PANEL_WIDTH * columns
    in_line = max(1, width // 165)
    top = HEAD + -(-len(peers) // in_line) * LEGEND_LINE + 10
    chart = Chart(path, kind, width, top + -(-len(plots) // columns) * PANEL_HEIGHT)
    chart.head(title, run)
    chart.legend(line_keys(peers), HEAD, in_line)
    for number, (panel, lines) in enumerate(plots):
        x = number % columns * PANEL_WIDTH
        y = top + number // columns * PANEL_HEIGHT
        chart.place(x + 72, y + 28, x + PANEL_WIDTH - 18, y + PANEL_HEIGHT - 54)
        draw_lines(chart, panel, lines, peers, panel.unit or run["unit"])
    chart.end()


def draw_lines(chart, panel, lines, peers, unit):
    """One of them; the wheel comes last, over the others."""
    lives = sorted({live for line in lines.values() for live in line})
    values = [value for line in lines.values() for value in line.values()]
    marks = ticks(min(values) / 1.05, max(values) * 1.05, 200)
    chart.frame(panel.title)
    print("set logscale xy")
    print(f"set xrange [{lives[0] / 1.3:g}:{lives[-1] * 1.3:g}]")
    # A mark at the very end may be taken for one beyond it.
    print(f"set yrange [{marks[0] * 0.999:g}:{marks[-1] * 1.001:g}]")
    print(f"set xtics nomirror ({tick_words(lives, short)})")
    print(f"set ytics nomirror ({tick_words(marks, short)})")
    print("set xlabel 'live timeouts' offset 0,0.3")
    print(f"set ylabel {quoted(Y_LABELS[unit])} offset 0.5,0")
    drawn = [peer for peer in reversed(peers) if peer in lines]
    print("plot " + ", ".join(f"'-' with linespoints linestyle {STYLES[peer]}"
                              for peer in drawn))
    for peer in drawn:
        for live, value in sorted(lines[peer].items()):
            print(live, value)
        print("e")


def charts_cost(runs, directory):
    """A chart for each run that has costs."""
    for name, title, panels in COSTS:
        if name not in runs:
            continue
        run = runs[name]
        plots = [(panel, panel.lines(run["rows"])) for panel in panels]
        plots = [(panel, lines) for panel, lines in plots if lines]
        there = {peer for _, lines in plots for peer in lines}
        peers = [peer for peer in COLOURS if peer in there]
        for kind in ("svg", "png") if plots else ():
            draw_costs(f"{directory}/{name}", kind, title, run, plots, peers)


def rows_with(run, operation, columns):
    """The rows of an operation that have all of these figures."""
    return [row for row in run["rows"] if row["operation"] == operation and
            all(row.get(column) is not None for column in columns)]


def late_rows(run):
    """The lateness of all peers, with as many live as most of them reach."""
    reached = {}
    for row in rows_with(run, "lateness", QUANTILES):
        reached.setdefault(row["live"], []).append(row)
    return max(reached.values(), key=lambda some: (len(some), some[0]["live"]), default=[])


def in_order(rows):
    """A row for each peer, in the order of the colours."""
    by_peer = {row["peer"]: row for row in rows}
    return [by_peer[peer] for peer in COLOURS if peer in by_peer]


def early_words(run, row):
    """A peer's name, and whether it expires early."""
    early = [other["value"] for other in rows_with(run, "early", ("value",))
             if (other["peer"], other["live"]) == (row["peer"], row["live"])]
    return f"{row['peer']} ({early[0]:,.0f} early)" if early and early[0] else row["peer"]


def name_rows(names):
    """The rows of the next plot, from above."""
    if any(names):
        print("set ytics nomirror scale 0 (" +
              ", ".join(f"{quoted(name)} {number}" for number, name in enumerate(names)) + ")")
    else:
        print("unset ytics")


def draw_lateness(chart, title, rows, names):
    """A line for each peer, from the half of its expiries to nearly all of them."""
    least = 1000
    values = [max(row[name], least) for row in rows for name in QUANTILES]
    marks = ticks(min(values) / 1.2, max(values) * 1.2, 20)
    chart.frame(title)
    print("set logscale x\nset xlabel 'after the deadline' offset 0,0.3\nunset ylabel")
    print(f"set xrange [{marks[0] * 0.999:g}:{marks[-1] * 1.001:g}]")
    print(f"set yrange [{len(rows) - 0.5}:-0.5]")
    print(f"set xtics nomirror ({tick_words(marks, duration)})")
    name_rows(names)
    plots, data = [], []
    for number, row in enumerate(rows):
        style = f"linecolor rgb '{COLOURS[row['peer']]}'"
        wide = 3 if row["peer"] in OURS else 1.5
        points = [max(row[name], least) for name in QUANTILES]
        plots.append(f"'-' with lines {style} linewidth {wide}")
        data += [f"{point} {number}" for point in points] + ["e"]
        for point, (_, _, shape) in zip(points, LATE):
            plots.append(f"'-' with points {style} pointtype {shape} pointsize 1")
            data += [f"{point} {number}", "e"]
    print("plot " + ", ".join(plots))
    print("\n".join(data))


def late_keys():
    """The legend's part for lateness."""
    return [(words, f"with points pointtype {shape} linecolor rgb '{GREY}'")
            for _, words, shape in LATE]


def charts_lateness(run, directory):
    """How late an expiry is heard of."""
    rows = in_order(late_rows(run))
    if not rows:
        return
    for kind in ("svg", "png"):
        top = HEAD + LEGEND_LINE + 30
        chart = Chart(f"{directory}/lateness", kind, 900, top + LINE * len(rows) + 60)
        chart.head("How late a program learns of an expiry", run)
        chart.legend(late_keys(), HEAD, 3)
        chart.place(190, top, chart.width - 30, chart.height - 60)
        draw_lateness(chart, f"{rows[0]['live']:,} live", rows,
                      [early_words(run, row) for row in rows])
        chart.end()


def draw_bars(chart, title, unit, rows, columns, names):
    """Bars to the right, and how long each is, for each peer and column."""
    most = max(row[column] for row in rows for column in columns)
    chart.frame(title)
    print(f"set xrange [0:{most * 1.25 or 1:g}]\nset yrange [{len(rows) - 0.5}:-0.5]")
    print(f"set xtics nomirror autofreq format '{'%.0s%c' if most >= 1000 else '%g'}'")
    print(f"set xlabel {quoted(unit)} offset 0,0.3\nunset ylabel")
    name_rows(names)
    plots, data = [], []
    height = 0.76 / len(columns)
    for number, row in enumerate(rows):
        for at, column in enumerate(columns):
            low = number - 0.38 + at * height
            fill = "solid 1" if not at else "solid 0.35"
            plots.append(f"'-' using 1:2:3:4:5:6 with boxxyerror fillstyle {fill} noborder "
                         f"linecolor rgb '{COLOURS[row['peer']]}'")
            data += [f"0 {number} 0 {row[column]} {low} {low + height}", "e"]
            plots.append(f"'-' using 1:2:3 with labels left offset 0.5,0 {chart.font(11)}")
            data += [f"{row[column]} {low + height / 2} {exact(row[column])}", "e"]
    print("plot " + ", ".join(plots))
    print("\n".join(data))


def charts_replay(run, directory):
    """What a trace cost with each backend, and how late its timeouts were."""
    events = in_order(rows_with(run, "event", ("value", "cpu")))
    calls = in_order(rows_with(run, "syscalls", ("value",)))
    late = in_order(rows_with(run, "lateness", QUANTILES))
    peers = [row["peer"] for row in events]
    if not peers:
        return
    for kind in ("svg", "png"):
        top = HEAD + LEGEND_LINE + 40
        chart = Chart(f"{directory}/replay", kind, 1140, top + 44 * len(peers) + 64)
        live = events[0]["live"]
        chart.head(f"A trace of connections, {live:,} of them open at once", run)
        square = "with points pointtype 5 pointsize 2 linecolor rgb"
        chart.legend([("in the backend's calls", f"{square} '{GREY}'"),
                      ("CPU: process and worker", f"{square} '#c5c5c5'"),
                      *late_keys()], HEAD, 5)
        bottom = chart.height - 64
        chart.place(130, top, 430, bottom)
        draw_bars(chart, "an event: arm, refresh or cancel", "nanoseconds each",
                  events, ("value", "cpu"), peers)
        # The rows of all three are named once.
        if [row["peer"] for row in calls] == peers:
            chart.place(470, top, 720, bottom)
            draw_bars(chart, "system calls", "for an event", calls, ("value",), [])
        if [row["peer"] for row in late] == peers:
            chart.place(770, top, 1110, bottom)
            draw_lateness(chart, "how late an expiry is heard of", late, [])
        chart.end()


def main(args):
    """See the head of the file."""
    if len(args) != 2:
        sys.exit(__doc__)
    try:
        runs = {run["name"]: run for run in load(args[0])["runs"]}
    except Wrong as error:
        sys.exit(f"bench: {error}")
    charts_cost(runs, args[1])
    if "user" in runs:
        charts_lateness(runs["user"], args[1])
    if "replay" in runs:
        charts_replay(runs["replay"], args[1])


if __name__ == "__main__":
    main(sys.argv[1:])
