"""A campaign in sittings: ends itself in time, packs what is done, goes on from a pack elsewhere.

For machines that are to be had for minutes only::

    python -m experiments.gpu_campaign --output MATRIX --pack OUT --seconds 540 -- \
        --profile contract --device cuda --jobs 8
    python -m experiments.gpu_campaign --output MATRIX --pack OUT --seconds 540 --unpack OUT

The second command goes on where the first stopped; give it the same --output. A pack is a tar.gz in
parts small enough to copy; compiled kernels are left out, since compiling them again is cheap.
"""

import argparse
import io
import os
import signal
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from gpu_eval.campaign.layout import Layout
from suiteopt.errors import UserError

PART_BYTES = 15 << 20
PREFIX = "campaign.tar.gz."
LEFT_OUT = frozenset({"cache", "beacons", "lock"})
"""What a pack does not hold of ``.campaign``."""


def pack(root: Path, directory: Path) -> list[Path]:
    """Write a campaign, or the matrix it became, into a directory as parts of one tar.gz."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as archive:
        for path in _members(root):
            archive.add(path, str(path.relative_to(root)), recursive=False)
    data = buffer.getvalue()
    directory.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, start in enumerate(range(0, len(data), PART_BYTES)):
        part = directory / f"{PREFIX}{number:03d}"
        part.write_bytes(data[start : start + PART_BYTES])
        parts.append(part)
    return parts


def unpack(directory: Path, root: Path) -> None:
    """Put a packed campaign where it was.

    Raises
    ------
    UserError
        If there is no pack, or ``root`` exists.
    """
    parts = sorted(directory.glob(f"{PREFIX}[0-9]*"))
    if not parts:
        raise UserError(f"{directory} holds no {PREFIX}000; name the directory of a pack")
    if root.exists():
        raise UserError(
            f"{root} is there already; remove it or go on with 'gpu-eval resume {root}'"
        )
    data = io.BytesIO(b"".join(part.read_bytes() for part in parts))
    root.mkdir(parents=True)
    with tarfile.open(fileobj=data, mode="r:gz") as archive:
        archive.extractall(root, filter="data")


def _members(root: Path) -> Iterator[Path]:
    work = Layout(root).work
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(work).parts if path.is_relative_to(work) else ()
        if path.is_file() and not (inside and inside[0] in LEFT_OUT):
            yield path


def stop_after(seconds: float) -> threading.Timer:
    """Interrupt this process like Ctrl-C after so many seconds."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM))
    timer.daemon = True
    timer.start()
    return timer


def main(arguments: list[str]) -> int:
    """Start or go on, for so many seconds, and pack; 0 when the matrix is whole, 3 when not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--unpack", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("options", nargs="*", help="of gpu-eval run, after --")
    given = parser.parse_args(arguments)
    if given.unpack is not None:
        unpack(given.unpack, given.output)
    layout = Layout(given.output)
    command = ["resume", str(given.output)]
    if not layout.started and not layout.header.exists():
        command = ["run", "--output", str(given.output), *given.options]
    began = time.monotonic()
    code = 1
    try:
        code = _gpu_eval(command, given.seconds)
    finally:
        # A defect of the program, too, must not cost what is measured.
        parts = pack(given.output, given.pack)
        size = sum(part.stat().st_size for part in parts)
        done = layout.header.exists() and not layout.started
        print(
            f"{'whole' if done else 'not done yet'} after {time.monotonic() - began:.0f} s here; "
            f"{len(parts)} parts, {size >> 10} KiB",
            flush=True,
        )
    return 0 if done else code or 3


def _gpu_eval(command: list[str], seconds: float) -> int:
    from gpu_eval.cli.main import run

    # Outside the campaign's own handling, too, the end of the sitting must not end this process:
    # what is done would not be packed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.argv = ["gpu-eval", *command]
    timer = stop_after(seconds)
    try:
        run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except KeyboardInterrupt:
        return 2
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        timer.cancel()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
