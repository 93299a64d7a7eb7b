"""Devices by the names that the command line uses."""

from gpu_eval.devices.base import Device
from suiteopt.errors import UserError

DEVICES = ("auto", "cpu", "cuda")


def open_device(name: str = "auto") -> Device:
    """Return the device of a name; nothing is compiled or taken yet.

    Parameters
    ----------
    name : str
        ``cpu``; ``cuda``; ``auto`` takes the best that there is.

    Raises
    ------
    UserError
        If the name is unknown, or there is no such device here.
    """
    if name not in DEVICES:
        raise UserError(f"unknown device '{name}'; known: {', '.join(DEVICES)}")
    if name == "cuda":
        raise UserError(
            "device 'cuda' is not available in this version, which runs kernels on the CPU; "
            "use --device cpu"
        )
    from gpu_eval.devices.host import HostDevice

    return HostDevice()
