"""Compiling many implementations in few units; what host and CUDA compilers share.

A unit that does not compile loses the members whom the compiler names and is compiled once more;
where it names nobody, it is divided. Results are kept by content.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.compilation.cache import BinaryCache, Entry, content_hash
from gpu_eval.compilation.dialects import Dialect
from gpu_eval.compilation.inlining import SourceError
from gpu_eval.compilation.unit import Prepared, prepare
from gpu_eval.devices.base import Binary, KernelSource

BATCH = 48
"""Most implementations in a unit: 22 ms each in a unit of 50, 490 ms alone."""

Members = Sequence[tuple[str, Prepared]]
"""Cache keys and prepared sources of a unit."""

_MENTION = re.compile(
    r"^(?:In file included from |\s+from )?(hgm\d{5})/([^:(]+)[:(](\d+)", re.MULTILINE
)
_ERROR = re.compile(
    r"^(?P<place>[^\s:(][^:(]*)[:(](?P<line>\d+)[:)](?:\d+:)?:? "
    r"(?P<what>(?:fatal |internal compiler |catastrophic )?error(?: #\d+[-\w]*)?: .*)$"
)


@dataclass(frozen=True)
class Failure:
    """A run of a compiler that gave nothing to load."""

    messages: str
    timed_out: bool


class BatchCompiler(ABC):
    """Compiles implementations in units of at most `BATCH`.

    Parameters
    ----------
    dialect : Dialect
    fingerprint : str
        Hash of everything but the source that a result depends on.
    """

    def __init__(self, dialect: Dialect, fingerprint: str) -> None:
        self.dialect = dialect
        self._fingerprint = fingerprint

    @abstractmethod
    def build(self, members: Members, cache: BinaryCache) -> dict[str, Entry] | Failure:
        """Compile a unit and store it; entries by key."""

    def compile(self, sources: Sequence[KernelSource], directory: Path, jobs: int) -> list[Binary]:
        """Compile implementations; see `gpu_eval.devices.base.Device.compile`."""
        cache = BinaryCache(directory)
        keys = [self.key(source) for source in sources]
        known: dict[str, Entry] = {}
        missing: dict[str, KernelSource] = {}
        for key, source in zip(keys, sources, strict=True):
            if key in known or key in missing:
                continue
            entry = cache.find(key)
            if entry is None:
                missing[key] = source
            else:
                known[key] = entry
        if missing:
            known.update(self._compile_missing(missing, cache, max(1, jobs)))
        return [
            Binary(
                id=source.id,
                path=cache.unit_path(known[key].unit) if known[key].unit else None,
                symbol=known[key].symbol,
                kernels=source.kernels,
                machine_code=known[key].machine_code,
                error=known[key].error,
            )
            for key, source in zip(keys, sources, strict=True)
        ]

    def key(self, source: KernelSource) -> str:
        """Hash everything that the result depends on; the id is not among it."""
        parts = [self._fingerprint, source.main, *source.kernels, "|", *source.flags, "|"]
        for name in sorted(source.files):
            parts += [name, source.files[name]]
        return content_hash(parts)

    def _compile_missing(
        self, missing: dict[str, KernelSource], cache: BinaryCache, jobs: int
    ) -> dict[str, Entry]:
        done: dict[str, Entry] = {}
        groups: dict[tuple[str, ...], list[tuple[str, Prepared]]] = {}
        units: list[list[tuple[str, Prepared]]] = []
        for key, source in missing.items():
            try:
                prepared = prepare(source, self.dialect)
            except SourceError as error:
                done[key] = Entry("", "", "", str(error))
                continue
            if prepared.balanced:
                groups.setdefault(source.flags, []).append((key, prepared))
            else:
                units.append([(key, prepared)])
        for group in groups.values():
            units += _chunks(group, jobs)
        for key, entry in done.items():
            cache.add(key, entry)
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            for entries in pool.map(lambda unit: self._compile_unit(unit, cache), units):
                done.update(entries)
        return done

    def _compile_unit(
        self, members: Sequence[tuple[str, Prepared]], cache: BinaryCache
    ) -> dict[str, Entry]:
        """Compile a unit; drop whom the compiler names, divide where it names nobody."""
        outcome = self.build(members, cache)
        if not isinstance(outcome, Failure):
            return outcome
        named = named_members(outcome.messages, len(members))
        if outcome.timed_out or not named:
            if len(members) > 1:
                middle = len(members) // 2
                return {
                    **self._compile_unit(members[:middle], cache),
                    **self._compile_unit(members[middle:], cache),
                }
            message = first_line(outcome)
            named = {0: message}
        entries = {members[i][0]: Entry("", "", "", message) for i, message in named.items()}
        if not outcome.timed_out:  # a busy machine is no property of the source
            for key, entry in entries.items():
                cache.add(key, entry)
        rest = [member for i, member in enumerate(members) if i not in named]
        return {**entries, **(self._compile_unit(rest, cache) if rest else {})}


def _chunks(
    members: Sequence[tuple[str, Prepared]], jobs: int
) -> Iterable[list[tuple[str, Prepared]]]:
    """Divide evenly: units of at most `BATCH`, as many as keep all jobs busy."""
    count = max(-(-len(members) // BATCH), min(jobs, -(-len(members) // 8)))
    return [
        list(members[len(members) * i // count : len(members) * (i + 1) // count])
        for i in range(count)
    ]


def named_members(messages: str, count: int) -> dict[int, str]:
    """Return the first error of each member that the compiler names.

    An error in a header of the shim is its caller's: the member mentioned last before it.
    """
    found: dict[int, str] = {}
    mentioned: int | None = None
    for line in messages.splitlines():
        mention = _MENTION.search(line)
        if mention:
            mentioned = int(mention.group(1)[3:])
        error = _ERROR.match(line)
        if error and mentioned is not None and mentioned < count:
            inside = re.sub(
                r"hgm\d{5}(/|::(?:\{anonymous\}::|\(anonymous namespace\)::)?)", "", line
            )
            found.setdefault(mentioned, inside)
    return found


def first_line(failure: Failure) -> str:
    """Return what to say of a failure that names no member."""
    if failure.timed_out:
        return "the compiler did not come to an end"
    lines = [line for line in failure.messages.splitlines() if "error" in line or "Killed" in line]
    lines += failure.messages.splitlines() or ["the compiler failed without a message"]
    return lines[0]
