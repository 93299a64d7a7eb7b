"""A child that behaves as the environment asks, run as a module of its own."""

import json
import os
import subprocess
import sys
import time

from suiteopt.check.answering import serve

HOW = os.environ.get("IMPOSTOR", "")


def say(text: bytes) -> None:
    os.write(int(sys.argv[1]), text)


def answer(request: dict[str, object]) -> dict[str, object]:
    if HOW == "echo":
        return {"echo": request, "stdin": sys.stdin.read()}
    if HOW == "garbage":
        say(b"no json\n")
    elif HOW == "number":
        say(b"1\n")
    elif HOW == "deep":
        say(b"[" * 100_000 + b"\n")
    elif HOW == "twice":
        say(b'{"accepted": true}\n{"accepted": true}\n')
    elif HOW == "endless":
        while True:
            say(b"x" * 65536)
    elif HOW == "flood":
        while True:
            os.write(2, b"x" * 65536)
    elif HOW == "exit":
        os.write(2, b"one line\n\033[2Jall is well\n")
        os._exit(3)
    elif HOW == "signal":
        os.kill(os.getpid(), 11)
    elif HOW == "daemon":
        # It leaves the group, holds the pipes open, and would outlive everything.
        code = "import time; time.sleep(600)"
        daemon = subprocess.Popen(
            [sys.executable, "-c", code], start_new_session=True, pass_fds=(int(sys.argv[1]),)
        )
        return {"daemon": daemon.pid}
    elif HOW == "raise":
        raise SystemExit("no\nmore")
    time.sleep(600)
    return json.loads("{}")  # type: ignore[no-any-return]


if __name__ == "__main__":
    if HOW == "absent":
        raise SystemExit(7)
    serve(answer)
