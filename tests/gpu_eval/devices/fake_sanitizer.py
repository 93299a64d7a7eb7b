"""Stands for ``compute-sanitizer``: runs the program, then prints reports about what it launched.

Planted kernels are accused by the tool they are for, and an implementation with an act of a tool's
(``FAKE_ACTS``: ``race``, ``overrun``, ``uninitialised``, ``flood``, ``nameless``, ``internal``)
by that tool. ``FAKE_BLIND`` names a tool that sees nothing. All is printed at the very end, which
the real one may do too.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

REPORTS = {
    "racecheck": (
        "Error: Race reported between Write access at {place}+0x90 in {file}:41\n"
        "=========     and Read access at {place}+0x100 in {file}:51 [508 hazards]"
    ),
    "memcheck": (
        "Invalid __global__ write of size 4 bytes\n"
        "=========     at {place}+0x160 in {file}:6\n"
        "=========     by thread (0,0,0) in block (0,0,0)\n"
        "=========     Access to 0x7f6510c00200 is out of bounds"
    ),
    "initcheck": (
        "Uninitialized __global__ memory read of size 4 bytes\n"
        "=========     at {place}+0x70 in {file}:41\n"
        "=========     by thread (31,0,0) in block (1,0,0)\n"
        "=========     Access to 0x7f3c7ec000fc"
    ),
    "synccheck": (
        "Barrier error detected. Divergent thread(s) in block.\n"
        "=========     at __syncwarp(unsigned int)+0x30\n"
        "=========     by thread (32,0,0) in block (0,0,0)\n"
        "=========         Device Frame: {place}+0xe40 in {file}:60"
    ),
}
TOOL_OF = {
    "race": "racecheck",
    "overrun": "memcheck",
    "uninitialised": "initcheck",
    "barrier": "synccheck",
}


def main(arguments: list[str]) -> int:
    """Run the program behind the options."""
    if arguments == ["--version"]:
        print("NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 1) (public-release)")
        return 0
    if arguments == ["--help"]:
        print("Usage: compute-sanitizer [options]")
        return 0
    place = arguments.index(sys.executable)
    options = dict(zip(arguments[:place:2], arguments[1:place:2], strict=True))
    tool, limit = options["--tool"], int(options["--print-limit"])
    launches = Path(os.environ["FAKE_LAUNCHES"])
    launches.write_text("")
    print("========= COMPUTE-SANITIZER", flush=True)
    code = subprocess.run(arguments[place:], check=False).returncode
    errors = [text for name in launches.read_text().split() for text in reports(tool, name)]
    for text in errors[:limit]:
        print(f"========= {text}\n=========")
    if any(text.startswith("Internal") for text in errors):
        return 1
    if code:
        print("========= Target application returned an error")
    kind = "RACECHECK" if tool == "racecheck" else "ERROR"
    print(f"========= {kind} SUMMARY: {len(errors)} errors")
    if len(errors) > limit:
        unprinted = len(errors) - limit
        print(f"========= {kind} SUMMARY: {unprinted} errors were not printed. Use --print-limit")
    return int(options["--error-exitcode"]) if errors else code


def reports(tool: str, mangled: str) -> list[str]:
    """Return what a tool says of a launch."""
    if os.environ.get("FAKE_BLIND") == tool:
        return []
    found = re.search(r"(hgm\d{5})(\d+)(\w+)", mangled)
    assert found is not None
    label, kernel = found.group(1), found.group(3)[: int(found.group(2))]
    text = REPORTS[tool].format(place=f"{label}::{kernel}(const float *)", file="kernel.cu")
    acts = json.loads(os.environ.get("FAKE_ACTS", "{}"))
    act = acts.get(str(int(label[3:])), "")
    if kernel.startswith("planted_"):
        return [text] if TOOL_OF.get(kernel.removeprefix("planted_")) == tool else []
    if act == "flood" and tool == "memcheck":
        return [text] * 6000
    if act == "nameless" and tool == "memcheck":
        return ["Invalid __global__ read of size 4 bytes\n=========     at 0x120"]
    if act == "internal" and tool == "memcheck":
        return ["Internal Sanitizer Error: the tool gave up"]
    return [text] if TOOL_OF.get(act) == tool else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
