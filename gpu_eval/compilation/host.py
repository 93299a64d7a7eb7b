"""Compiles many implementations for the host with few runs of g++."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from gpu_eval.compilation.batch import BatchCompiler, Failure, Members, first_line
from gpu_eval.compilation.cache import BinaryCache, Entry, content_hash
from gpu_eval.compilation.dialects import HOST
from gpu_eval.compilation.machine_code import machine_code_hashes
from gpu_eval.compilation.toolchain import RUNTIME, Toolchain
from gpu_eval.compilation.unit import assemble, label, table
from suiteopt.errors import UserError

_SECONDS, _SECONDS_EACH = 60.0, 5.0
# Raised by 1 whenever what is stored changes its meaning.
_FORMAT = "1"


class HostCompiler(BatchCompiler):
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
        parts = [_FORMAT, toolchain.version, *toolchain.kernel_options()]
        parts += [p.name + "\n" + p.read_text() for p in sorted(RUNTIME.glob("host_*.h"))]
        super().__init__(HOST, content_hash(parts))
        self.toolchain = toolchain
        self._run = run

    def build(self, members: Members, cache: BinaryCache) -> dict[str, Entry] | Failure:
        """Compile, link and hash a unit."""
        with tempfile.TemporaryDirectory(prefix="suiteopt-") as scratch:
            return self._build(members, Path(scratch), cache)

    def _build(
        self, members: Members, scratch: Path, cache: BinaryCache
    ) -> dict[str, Entry] | Failure:
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
            raise UserError(f"the linker failed: {first_line(failure)}")
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

    def _call(self, command: Sequence[str], directory: Path, limit: float) -> Failure | None:
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
            return Failure("", True)
        except OSError as error:
            raise UserError(f"cannot run the compiler {command[0]}: {error.strerror}") from error
        return Failure(done.stderr, False) if done.returncode else None
