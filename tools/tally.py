#!/usr/bin/env python3
"""tally.py RESULTS.xml - count what ctest wrote with --output-junit.

Every skip is a line with its reason, be it a whole test or one case of a
test that passed: both print "SKIPPED: why" (tests/check.h, tests/cli/tools).
A test that skips and does not say why is an error.
"""
import sys
import xml.etree.ElementTree as tree


def reasons(case):
    output = case.findtext("system-out") or ""
    mark = "SKIPPED: "
    return [line.split(mark, 1)[1].strip()
            for line in output.splitlines() if line.startswith(mark)]


def main():
    passed = failed = silent = 0
    skips = []
    for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
        why = reasons(case)
        if case.get("status") == "fail":
            failed += 1
            why = []
        elif case.get("status") == "run":
            passed += 1
        elif not why:
            silent += 1
            why = ["it does not say why, which is an error"]
        skips += [(case.get("name"), reason) for reason in why]
    print()
    for name, reason in skips:
        print(f"skipped {name}: {reason}")
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
