#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read KTAP or TAP and say, in few lines, what passed and what did not.

usage: ktap.py kunit LABEL LOG       KUnit results in a kernel log
       ktap.py selftests LABEL       TAP of many programs on standard input,
                                     between lines that scripts/selftests makes

The last line is 'LABEL: N passed, N failed, N skipped'. The exit status is 1
if something failed, or if nothing passed.
"""
import re
import sys

STAMP = re.compile(r"^(<\d+>)?\[ *\d+\.\d+\](\[ *[TC]\d+\])? ?")
RESULT = re.compile(r"^( *)(not ok|ok)\s+(\d+)\b(?:\s+-)?\s*([^#\n]*?)\s*(?:#\s*(.*))?$")
PLAN = re.compile(r"^( *)(?:# )?1\.\.(\d+)\s*(?:#\s*(.*))?$")
BEGIN = "timewheel-kunit begin"
END = "timewheel-kunit end"


class Counts:
    """What the run came to so far."""

    def __init__(self, label):
        self.label = label
        self.passed = self.failed = self.skipped = 0

    def finish(self):
        """Print the counts; the exit status of the whole."""
        print(f"{self.label}: {self.passed} passed, {self.failed} failed, "
              f"{self.skipped} skipped", flush=True)
        return 1 if self.failed or not self.passed else 0


class Group:
    """One KUnit suite, or one selftest program."""

    def __init__(self, name):
        self.name = name
        self.plan = None
        self.passed = self.skipped = 0
        self.bad = []       # (title, lines)
        self.skips = []     # (title, reason)
        self.lines = []     # since the last result

    def seen(self):
        """How many results there were."""
        return self.passed + self.skipped + len(self.bad)

    def result(self, passed, title, remark):
        """Take in the result of one case."""
        remark = remark or ""
        if re.match(r"skip", remark, re.I):
            self.skipped += 1
            self.skips.append((title, remark))
        elif passed or re.match(r"(todo|xfail)", remark, re.I):
            self.passed += 1
        else:
            self.bad.append((title, self.lines))
        self.lines = []

    def trouble(self, title, lines=()):
        """A failure that is no case of the group's own."""
        self.bad.append((title, list(lines)))

    def report(self, counts):
        """Print one line, and the failing cases with what they said."""
        counts.passed += self.passed
        counts.failed += len(self.bad)
        counts.skipped += self.skipped
        words = [f"{self.passed} passed"]
        if self.bad:
            words.append(f"{len(self.bad)} failed")
        if self.skipped:
            words.append(f"{self.skipped} skipped")
        print(f"  {'FAIL' if self.bad else 'ok  '} {self.name}: {', '.join(words)}")
        for title, reason in self.skips:
            print(f"       skipped: {title} ({reason})")
        for title, lines in self.bad:
            print(f"       not ok: {title}")
            for line in lines[-40:]:
                print(f"         {line}")
        sys.stdout.flush()


def kunit(label, path):
    """KUnit in a kernel log: level 0 are suites, level 1 their cases."""
    counts = Counts(label)
    with open(path, encoding="utf-8", errors="replace") as log:
        lines = [STAMP.sub("", line.rstrip("\r\n")) for line in log]
    begin = [i for i, line in enumerate(lines) if BEGIN in line]
    end = [i for i, line in enumerate(lines) if END in line]
    lines = lines[begin[-1] + 1:] if begin else []
    if begin and end:
        lines = lines[:end[-1] - begin[-1] - 1]

    plan = None
    suites = 0
    group = None
    for line in lines:
        subtest = re.match(r"^    # Subtest: (\S+)", line)
        if subtest:
            if group:
                group.trouble("the suite ended before its result", group.lines)
                group.report(counts)
            group = Group(subtest.group(1))
            continue
        match = PLAN.match(line)
        if match and len(match.group(1)) == 0 and not group:
            plan = (plan or 0) + int(match.group(2))
            continue
        if match and len(match.group(1)) == 4 and group:
            group.plan = int(match.group(2))
            continue
        match = RESULT.match(line)
        if match and len(match.group(1)) == 4 and group:
            group.result(match.group(2) == "ok", match.group(4), match.group(5))
            continue
        if match and len(match.group(1)) == 0:
            suites += 1
            if not group:
                group = Group(match.group(4))
            if group.plan is not None and group.seen() != group.plan:
                group.trouble(f"{group.plan} cases were announced, {group.seen()} reported")
            skipped = re.match(r"skip", match.group(5) or "", re.I)
            if skipped and not group.seen():
                group.result(True, "the suite", match.group(5))
            if match.group(2) == "not ok" and not group.bad:
                group.trouble("the suite as a whole", group.lines)
            if not group.seen():
                group.trouble("no case was run")
            group.report(counts)
            group = None
            continue
        if group and line.strip():
            group.lines.append(line)
    if group:
        group.trouble("the suite did not end", group.lines)
        group.report(counts)

    run = Group("the run")
    if not begin:
        run.trouble("the guest did not come to the tests")
    elif not end:
        run.trouble("the guest did not come to the end of the tests", lines[-20:])
    if plan is None or suites < plan:
        run.trouble(f"{plan or 'no'} suites were announced, {suites} reported")
    if run.bad:
        run.report(counts)
    return counts.finish()


def selftests(label):
    """Many programs: each between its begin and its end."""
    counts = Counts(label)
    group = None
    done = False
    announced = None
    programs = 0
    for line in sys.stdin.buffer:
        line = line.decode("utf-8", "replace").rstrip("\r\n")
        words = line.split()
        if words[:2] == ["timewheel-selftests", "begin"]:
            group = Group(words[2])
            programs += 1
            continue
        if words[:2] == ["timewheel-selftests", "run"]:
            announced = int(words[2])
            continue
        if words[:2] == ["timewheel-selftests", "done"]:
            done = True
            continue
        if words[:2] == ["timewheel-selftests", "end"] and group:
            end_of_program(group, int(words[3]), " ".join(words[4:]))
            group.report(counts)
            group = None
            continue
        if not group:
            continue
        match = PLAN.match(line)
        if match and not match.group(1):
            group.plan = int(match.group(2))
            if group.plan == 0 and match.group(3):
                group.result(True, group.name, match.group(3))
            continue
        match = RESULT.match(line)
        if match and not match.group(1):
            group.result(match.group(2) == "ok", match.group(4), match.group(5))
        elif line.strip():
            group.lines.append(line)
    if group:
        group.trouble("the guest ended during the program", group.lines)
        group.report(counts)
    if not done:
        run = Group("the run")
        run.trouble(f"{announced or 'no'} programs were to run, {programs} began")
        run.report(counts)
    return counts.finish()


def end_of_program(group, status, remark):
    """Hold the exit status of a program against what it printed."""
    if status == 4 and not group.bad:
        if not group.seen():
            group.result(True, group.name,
                         "SKIP " + " ".join(line.lstrip("# ") for line in group.lines[-1:]))
    elif status in (124, 137, 143):
        group.trouble(f"not finished in time {remark}".strip(), group.lines)
    elif status and not group.bad:
        group.trouble(f"it ended with status {status}", group.lines)
    elif group.plan is not None and group.seen() != group.plan and group.plan:
        group.trouble(f"{group.plan} tests were announced, {group.seen()} reported",
                      group.lines)
    elif not group.seen():
        if group.plan is None:
            group.result(True, group.name, None)
        else:
            group.trouble("it reported no test", group.lines)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "kunit":
        sys.exit(kunit(sys.argv[2], sys.argv[3]))
    if len(sys.argv) == 3 and sys.argv[1] == "selftests":
        sys.exit(selftests(sys.argv[2]))
    sys.exit(__doc__)
