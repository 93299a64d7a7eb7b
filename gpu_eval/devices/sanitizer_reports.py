"""What compute-sanitizer prints, read.

A report is a headline and its details, each behind a prefix of equal signs; headlines follow the
prefix at once, details are set in. Reports come over a channel of their own and are not in step
with what the program prints, so a report belongs to the implementation whose kernel it names:
every one of a run has a namespace of its own (`gpu_eval.compilation.labelled`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Tool(StrEnum):
    """The tools of compute-sanitizer."""

    RACECHECK = "racecheck"
    MEMCHECK = "memcheck"
    INITCHECK = "initcheck"
    SYNCCHECK = "synccheck"


_LINE = re.compile(r"^={8,10}(?P<indent> *)(?P<text>.*?)\s*$")
_DETAIL = re.compile(
    r"^(at|by|and|in|Address|Access|Device Frame|Host Frame|Saved host|Current Value|"
    r"(Read|Write) Thread|Barrier is|\[)(\b|$)"
)
_NUMBER = re.compile(r"hgm(\d{5})")
_NAMESPACE = re.compile(r"hgm\d{5}(::|/)")
_SUMMARY = re.compile(r"\b[A-Z]+ SUMMARY:")
_BANNER = "COMPUTE-SANITIZER"
_UNPRINTED = "were not printed"
_BROKEN = re.compile(r"\binternal\b.*\berror\b", re.IGNORECASE)
_ACCUSATION = re.compile(
    r"^(?:(?:Error|Warning): )?(?:Race reported between|Potential (?:WAW|WAR|RAW) hazard|"
    r"Potential invalid |Invalid |Misaligned |Malloc/Free error|Uninitialized |"
    r"Barrier error detected|Warpgroup MMA sequence error)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Report:
    """One accusation.

    Attributes
    ----------
    headline : str
        Its first line, such as ``Invalid __global__ write of size 4 bytes``.
    details : tuple of str
        The lines below: where, by which thread, at which address.
    """

    headline: str
    details: tuple[str, ...] = ()

    @property
    def number(self) -> int | None:
        """Number of the implementation whose kernel it names; None if it names none."""
        found = _NUMBER.search("\n".join((self.headline, *self.details)))
        return int(found.group(1)) if found else None

    @property
    def line(self) -> str:
        """Headline and place in one line, without the namespace that only this run has."""
        parts = (self.headline, *self.details[:1])
        return _NAMESPACE.sub("", " ".join(parts))


@dataclass(frozen=True)
class Transcript:
    """Everything that one run of the tool printed.

    Attributes
    ----------
    reports : tuple of Report
    remarks : tuple of str
        Other headlines of the tool.
    said : tuple of str
        Lines of the program itself.
    complete : bool
        The tool came to its summary and had no internal error: what it did not report, it did
        not see.
    cut : bool
        It stopped printing before it stopped seeing.
    """

    reports: tuple[Report, ...]
    remarks: tuple[str, ...]
    said: tuple[str, ...]
    complete: bool
    cut: bool


def read_transcript(text: str) -> Transcript:
    """Read the output of a run; lines of the program itself may stand between."""
    reports: list[Report] = []
    remarks: list[str] = []
    said: list[str] = []
    summary = broken = cut = False
    for headline, details in _blocks(text, said):
        report = Report(headline, details)
        if _SUMMARY.search(headline):
            summary = True
            cut = cut or _UNPRINTED in headline
        elif _BROKEN.search(headline):
            broken = True
            remarks.append(headline)
        elif _ACCUSATION.match(headline) or report.number is not None:
            # A headline that is not known (a hardware exception) accuses whom it names.
            reports.append(report)
        elif headline != _BANNER:
            remarks.append(headline)
    return Transcript(tuple(reports), tuple(remarks), tuple(said), summary and not broken, cut)


def _blocks(text: str, others: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield headlines with their details; lines without the prefix go to ``others``."""
    headline = ""
    details: list[str] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            if line.strip():
                others.append(line.strip())
            continue
        content = found["text"]
        if headline and content and (len(found["indent"]) > 1 or _DETAIL.match(content)):
            details.append(content)
            continue
        if headline:
            yield headline, tuple(details)
        headline, details = content, []
    if headline:
        yield headline, tuple(details)
