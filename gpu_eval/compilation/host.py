"""Compiles many implementations for the host with few runs of g++."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.compilation.cache import BinaryCache, Entry, content_hash
from gpu_eval.compilation.machine_code import machine_code_hashes
from gpu_eval.compilation.toolchain import RUNTIME, Toolchain
from gpu_eval.compilation.unit import Prepared, SourceError, assemble, label, prepare, table
from gpu_eval.devices.base import Binary, KernelSource
from suiteopt.errors import UserError

BATCH = 48
"""Most implementations in a unit: 22 ms each in a unit of 50, 490 ms alone."""

_SECONDS, _SECONDS_EACH = 60.0, 5.0
_MENTION = re.compile(
    r"^(?:In file included from |\s+from )?(hgm\d{5})/([^:]+):(\d+)", re.MULTILINE
)
_ERROR = re.compile(
    r"^(?P<place>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? "
    r"(?P<what>(?:fatal |internal compiler )?error: .*)$"
)
# Raised by 1 whenever what is stored changes its meaning.
_FORMAT = "1"


@dataclass(frozen=True)
class _Failure:
    """A run of the compiler that made no object file."""

    messages: str
    timed_out: bool


class HostCompiler:
    """Compiles for the host device.

    Parameters
    ----------
    toolchain : Toolchain
    run : callable
        Runs a command with a time limit as `subprocess.run` does; a test counts its calls.
    """

    def __init__(
        self,
        toolchain: Toolchain,
        run: Callable[..., "subprocess.CompletedProcess[str]"] = subprocess.run,
    ) -> None:
        self.toolchain = toolchain
        self._run = run
        self._fingerprint = content_hash(
            [
                _FORMAT,
                toolchain.version,
                *toolchain.kernel_options(),
                *(p.name + "\n" + p.read_text() for p in sorted(RUNTIME.glob("host_*.h"))),
            ]
        )

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
                prepared = prepare(source)
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
        with tempfile.TemporaryDirectory(prefix="suiteopt-") as scratch:
            outcome = self._build(members, Path(scratch), cache)
        if not isinstance(outcome, _Failure):
            return outcome
        named = _named(outcome.messages, len(members))
        if outcome.timed_out or not named:
            if len(members) > 1:
                middle = len(members) // 2
                return {
                    **self._compile_unit(members[:middle], cache),
                    **self._compile_unit(members[middle:], cache),
                }
            message = _first_line(outcome)
            named = {0: message}
        entries = {members[i][0]: Entry("", "", "", message) for i, message in named.items()}
        if not outcome.timed_out:  # a busy machine is no property of the source
            for key, entry in entries.items():
                cache.add(key, entry)
        rest = [member for i, member in enumerate(members) if i not in named]
        return {**entries, **(self._compile_unit(rest, cache) if rest else {})}

    def _build(
        self, members: Sequence[tuple[str, Prepared]], scratch: Path, cache: BinaryCache
    ) -> dict[str, Entry] | _Failure:
        text, built, linked = scratch / "unit.cpp", scratch / "unit.o", scratch / "unit.so"
        text.write_text(assemble([prepared for _, prepared in members]))
        flags = members[0][1].source.flags
        command = [
            self.toolchain.compiler,
            *self.toolchain.kernel_options(),
            *flags,
            "-fmax-errors=0",
            "-fdiagnostics-color=never",
            f"-I{RUNTIME}",
            "-c",
            text.name,
            "-o",
            built.name,
        ]
        limit = _SECONDS + _SECONDS_EACH * len(members)
        failure = self._call(command, scratch, limit)
        if failure:
            return failure
        link = [self.toolchain.compiler, "-shared", "-Wl,-z,now", "-Wl,--build-id=none"]
        failure = self._call([*link, "-o", linked.name, built.name, "-lm"], scratch, _SECONDS)
        if failure:
            raise UserError(f"the linker failed: {_first_line(failure)}")
        tables = [table(i) for i in range(len(members))]
        labels = [label(i) for i in range(len(members))]
        hashes = machine_code_hashes(built, tables, labels)
        unit = content_hash([key for key, _ in members]) + ".so"
        cache.add_unit(unit, linked.read_bytes())
        entries = {
            key: Entry(unit, symbol, code, "")
            for (key, _), symbol, code in zip(members, tables, hashes, strict=True)
        }
        for key, entry in entries.items():
            cache.add(key, entry)
        return entries

    def _call(self, command: Sequence[str], directory: Path, limit: float) -> _Failure | None:
        try:
            done = self._run(
                command,
                cwd=directory,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit,
                env={**os.environ, "LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired:
            return _Failure("", True)
        except OSError as error:
            raise UserError(f"cannot run the compiler {command[0]}: {error.strerror}") from error
        return _Failure(done.stderr, False) if done.returncode else None


def _chunks(
    members: Sequence[tuple[str, Prepared]], jobs: int
) -> Iterable[list[tuple[str, Prepared]]]:
    """Divide evenly: units of at most `BATCH`, as many as keep all jobs busy."""
    count = max(-(-len(members) // BATCH), min(jobs, -(-len(members) // 8)))
    return [
        list(members[len(members) * i // count : len(members) * (i + 1) // count])
        for i in range(count)
    ]


def _named(messages: str, count: int) -> dict[int, str]:
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


def _first_line(failure: _Failure) -> str:
    if failure.timed_out:
        return "the compiler did not come to an end"
    lines = [line for line in failure.messages.splitlines() if "error" in line or "Killed" in line]
    lines += failure.messages.splitlines() or ["the compiler failed without a message"]
    return lines[0]
