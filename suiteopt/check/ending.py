"""How a process ended, said in words; until it is waited for, its id is still its own."""

import os
import subprocess


def ended(process: "subprocess.Popen[bytes]") -> str:
    """Return how a process ended, if it did, without taking its id from it."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        code = process.poll()
        return "" if code is None else f"ended with exit code {code}"
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        state = os.waitid(os.P_PID, process.pid, how)
    except ChildProcessError:
        return "ended"
    if state is None:
        return ""
    exited = state.si_code == os.CLD_EXITED
    return f"{'ended with exit code' if exited else 'died of signal'} {state.si_status}"
