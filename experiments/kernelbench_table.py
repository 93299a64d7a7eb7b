"""What was found of known kernels: one word a result, tables, and several runs made one.

A run's document holds ``results`` (a row a kernel and copy) and ``suites``; a result that there is
no row of was not run, unless the suite is known to have no members for the problem.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from suiteopt.errors import UserError

BEFORE = "before"
SAME = ("device", "torch", "revision")
NOT_RUN = "not run"
NO_MEMBERS = "no members"
LANGUAGES = ("torch", "triton", "cuda")

Document = dict[str, Any]
Row = Mapping[str, Any]


def verdict(row: Row) -> str:
    """Return one word or two for a result."""
    if "failed" in row:
        return str(row["failed"]).partition(":")[0]
    if row["accepted"]:
        return "accepted"
    if not row["compiled"] or "runtime_error" in row["metadata"]:
        return "broken"
    return "rejected"


def copies(document: Document) -> list[str]:
    """Return the names of the copies, the one without a suite first."""
    return [BEFORE, *(str(suite["copy"]) for suite in document["suites"])]


def cell(document: Document, kernel: str, problem: str, copy: str) -> str:
    """Return what is said of one kernel in one copy."""
    for row in document["results"]:
        if (row["kernel"], row["copy"]) == (kernel, copy):
            return verdict(row)
    for suite in document["suites"]:
        if suite["copy"] == copy and problem not in suite.get("problems", [problem]):
            return NO_MEMBERS
    return NOT_RUN


def kernels(document: Document) -> list[tuple[str, str]]:
    """Return the name and problem of every kernel, in order."""
    return sorted({(str(row["kernel"]), str(row["problem"])) for row in document["results"]})


def rows(document: Document) -> list[list[str]]:
    """Return problem, kernel and a word a copy, a kernel a row."""
    names = copies(document)
    return [
        [problem, kernel[4:], *(cell(document, kernel, problem, copy) for copy in names)]
        for kernel, problem in kernels(document)
    ]


def condensed(document: Document) -> list[list[str]]:
    """Return the rows with those of one mistake, written in several languages, made one."""
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for problem, kernel, *words in rows(document):
        name, _, language = kernel.rpartition("_")
        groups.setdefault((problem, name), []).append([language, *words])
    found = []
    for (problem, name), alike in groups.items():
        written = [one[0] for one in alike]
        columns = [_shared(written, words) for words in list(zip(*alike, strict=True))[1:]]
        title = name.replace("_", " ")
        found.append([problem, f"{title} ({', '.join(_ordered(written))})", *columns])
    return found


def _shared(languages: Sequence[str], words: Sequence[str]) -> str:
    by_word: dict[str, list[str]] = {}
    for language, word in zip(languages, words, strict=True):
        by_word.setdefault(word, []).append(language)
    if len(by_word) == 1:
        return words[0]
    return ", ".join(f"{word} ({', '.join(_ordered(who))})" for word, who in by_word.items())


def _ordered(languages: Sequence[str]) -> list[str]:
    return sorted(languages, key=LANGUAGES.index)


def markdown_table(document: Document) -> str:
    """Return the condensed rows as a table in Markdown."""
    heads = ["problem", "kernel", *copies(document)]
    lines = [heads, ["---"] * len(heads), *condensed(document)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def counts(document: Document) -> Iterator[str]:
    """Yield one sentence a copy: right kernels accepted, wrong ones rejected, what is missing."""
    right = {str(row["kernel"]): bool(row["right"]) for row in document["results"]}
    for copy in copies(document):
        words = {
            kernel: cell(document, kernel, problem, copy) for kernel, problem in kernels(document)
        }
        judged = {k: w for k, w in words.items() if w in {"accepted", "rejected"}}
        parts = []
        for kind, wanted, title in ((True, "accepted", "right"), (False, "rejected", "wrong")):
            of = [word for kernel, word in judged.items() if right[kernel] is kind]
            parts.append(f"{of.count(wanted)} of {len(of)} {title} kernels {wanted}")
        for word in sorted(set(words.values()) - {"accepted", "rejected"}):
            parts.append(f"{list(words.values()).count(word)} {word}")
        yield f"{copy}: {', '.join(parts)}"


def trials(document: Document) -> str:
    """Say how many trials of the published check a result stands on."""
    by_count: dict[int, set[str]] = {}
    for row in document["results"]:
        if "accepted" in row:
            by_count.setdefault(int(row["trials"]), set()).add(f"{row['problem']} {row['copy']}")
    if len(by_count) <= 1:
        return f"Trials: {', '.join(map(str, by_count)) or 'none'}."
    most = max(by_count, key=lambda count: len(by_count[count]))
    others = [
        f"{count} for {', '.join(sorted(where))}"
        for count, where in sorted(by_count.items())
        if count != most
    ]
    return f"Trials: {most}; {'; '.join(others)}."


def markdown(document: Document) -> str:
    """Return a page: where it ran, the suites, the table, counts."""
    suites = [f"- `{suite['copy']}`: `{suite['command']}`" for suite in document["suites"]]
    lines = [
        "# Known kernels through KernelBench's own check, before and after",
        "",
        f"`eval_kernel_against_ref` of KernelBench at {document['revision'][:7]}, "
        f"{document['device']}, torch {document['torch']}. {trials(document)}",
        "",
        *suites,
        "",
        markdown_table(document),
        "",
        *(f"- {line}" for line in counts(document)),
    ]
    return "\n".join(lines) + "\n"


def asked(command: str) -> str:
    """Return a command without the place that its suite was written to."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in {"-o", "--output"}:
            next(words, None)
        elif not word.startswith("--output="):
            kept.append(word)
    return shlex.join(kept)


def merge(paths: Sequence[Path]) -> Document:
    """Make one document of several runs' documents.

    A result beats none. Runs must be of one device, torch, revision of the benchmark, and of one
    suite a name; where two runs say different things of one kernel there is no table of both.

    Raises
    ------
    UserError
        If they are not of one kind, or disagree.
    """
    documents = [read(path) for path in paths]
    if not documents:
        raise UserError("there is nothing to merge; name the files of one run or more")
    first = documents[0]
    suites: dict[str, Any] = {}
    found: dict[tuple[str, str], Row] = {}
    for path, document in zip(paths, documents, strict=True):
        for key in SAME:
            if document[key] != first[key]:
                raise UserError(
                    f"{path} has {key} {document[key]}, and {paths[0]} has {first[key]}; "
                    "merge runs of one kind"
                )
        for suite in document["suites"]:
            known = suites.setdefault(suite["copy"], suite)
            if known["hash"] != suite["hash"]:
                raise UserError(
                    f"{path} has another suite under the name '{suite['copy']}'; "
                    "merge runs of the same suites"
                )
            suites[suite["copy"]] = {**known, **suite, "command": asked(suite["command"])}
        for row in document["results"]:
            key_of_row = (str(row["kernel"]), str(row["copy"]))
            found[key_of_row] = _better(found.get(key_of_row), row, path)
    replaced = {name for document in documents for name in document.get("clients_replaced", [])}
    return {
        **{key: first[key] for key in SAME},
        "clients_replaced": sorted(replaced),
        "suites": list(suites.values()),
        "results": [dict(found[key]) for key in sorted(found)],
    }


def _better(one: Row | None, other: Row, path: Path) -> Row:
    if one is None or "accepted" not in one:
        started = one is not None and verdict(one) != NOT_RUN
        return one if one is not None and started and "accepted" not in other else other
    if "accepted" not in other:
        return one
    if verdict(one) != verdict(other):
        raise UserError(
            f"{path} says that {other['copy']} gives {other['kernel']} '{verdict(other)}', and an "
            f"earlier file says '{verdict(one)}'; look into it before you merge them"
        )
    return other if other["trials"] > one["trials"] else one


def read(path: Path) -> Document:
    """Read a run's document.

    Raises
    ------
    UserError
        If it is none.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is no result of a run ({error}); give a file written by -o") from (
            error
        )
    if not isinstance(document, dict) or not {*SAME, "suites", "results"} <= set(document):
        raise UserError(f"{path} is no result of a run; give a file written by -o")
    return document
