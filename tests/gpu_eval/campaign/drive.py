"""Run or resume a campaign on the fake device in a process of its own: something to kill."""

import os
import resource
import signal
import sys
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice


def main(command: str, corpus: Path, root: Path, options: dict[str, Any], said: Path) -> None:
    """Do as told; write one sentence to ``said`` and exit with 2 where a user would see one."""
    # Whoever runs the tests in the background of a script has Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "file_limit" in options:
        # Every write beyond it fails as on a full disk; children inherit it.
        resource.setrlimit(resource.RLIMIT_FSIZE, (options["file_limit"], resource.RLIM_INFINITY))
    else:
        _share(options["server"])
    device = FakeDevice(pause=options.get("pause", 0.0))
    try:
        if command == "start":
            start(root, tiny.settings(corpus), device, Silent())
        else:
            resume(root, device, Silent())
    except UserError as error:
        said.write_text(f"error: {error}\n")
        sys.exit(2)
    except BaseException:
        os.abort()


def _share(address: str) -> None:
    """Fork workers from the server that this process comes from: another would import torch."""
    server: Any = forkserver._forkserver  # type: ignore[attr-defined]
    server._forkserver_address = address
    server.ensure_running = forkserver.ensure_running = lambda: None
