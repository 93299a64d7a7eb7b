"""The largest memory that this process held."""

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_mib() -> float:
    """Return the peak resident memory of this program, in MiB.

    `getrusage` starts with what the parent held when it forked, so that a small child of a large
    process says the size of its parent; the kernel's own mark belongs to the program that runs.
    """
    if STATUS.is_file():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
