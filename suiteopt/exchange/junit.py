"""A check's audit as JUnit XML, which every CI server shows."""

import re
from xml.etree import ElementTree

from suiteopt.audit.detection import Audit
from suiteopt.exchange.gate import CONTROLS, OVERALL, Gate

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


def junit_xml(audit: Audit, gate: Gate) -> bytes:
    """Return one test suite: a case a problem, one for all, one for the controls.

    A case fails when the gate says so; each problem's lists its survivors, and one that the check
    cannot be judged on is skipped. There are no times and dates in it, so the same result gives
    the same bytes.
    """
    failures = gate.failures(audit)
    survivors = audit.outcomes[~audit.outcomes["detected"].astype(bool)]
    missed = survivors.groupby("problem", sort=False)["implementation"].apply(list).to_dict()
    cases: list[tuple[str, str]] = [
        (
            name,
            f"{tally.detected} of {tally.mutants} detected\n"
            + "".join(f"survives: {mutant}\n" for mutant in missed.get(name, ())),
        )
        for name, tally in audit.by_problem.items()
    ]
    tally, rejected = audit.tally, audit.rejected_controls
    cases.append((OVERALL, f"{tally.detected} of {tally.mutants} detected ({audit.label})\n"))
    cases.append(
        (
            CONTROLS,
            f"{audit.false_rejections} of {audit.control_cells} cells rejected\n"
            + "".join(f"rejected: {control}\n" for control in rejected),
        )
    )
    skipped = {
        problem: f"{part.reason} ({part.mutants} faults)"
        for problem, part in audit.left_out.items()
    }
    tests = len(cases) + len(skipped)
    counts = {"tests": str(tests), "failures": str(len(failures)), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "suiteopt", **counts})
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {"name": _clean(audit.protocol), **counts, "skipped": str(len(skipped)), "time": "0"},
    )
    for name, text in [*cases, *((problem, "") for problem in skipped)]:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": _clean(f"suiteopt.{audit.protocol}"), "name": _clean(name), "time": "0"},
        )
        if name in failures:
            failure = ElementTree.SubElement(
                case, "failure", {"message": _clean(failures[name]), "type": "gate"}
            )
            failure.text = _clean(failures[name])
        if name in skipped:
            ElementTree.SubElement(case, "skipped", {"message": _clean(skipped[name])})
            continue
        ElementTree.SubElement(case, "system-out").text = _clean(text)
    ElementTree.indent(root)
    body: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
