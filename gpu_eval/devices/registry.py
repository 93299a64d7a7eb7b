"""Devices by the names that the command line uses."""

from gpu_eval.devices.base import Device
from suiteopt.errors import UserError

DEVICES = ("auto", "cpu", "cuda")


def check_name(name: str) -> None:
    """Refuse a name that no device has; nothing is looked for.

    Raises
    ------
    UserError
        If it is unknown.
    """
    if name not in DEVICES:
        raise UserError(f"unknown device '{name}'; known: {', '.join(DEVICES)}")


def open_device(name: str = "auto") -> Device:
    """Return the device of a name; nothing is compiled or taken yet.

    Parameters
    ----------
    name : str
        ``cpu``; ``cuda``; ``auto`` takes a GPU where driver, pycuda and NVRTC are to be had.

    Raises
    ------
    UserError
        If the name is unknown, or there is no such device here.
    """
    check_name(name)
    if name != "cpu":
        from gpu_eval.devices.cuda import CudaDevice

        try:
            return CudaDevice()
        except UserError:
            if name == "cuda":
                raise
    from gpu_eval.devices.host import HostDevice

    return HostDevice()
