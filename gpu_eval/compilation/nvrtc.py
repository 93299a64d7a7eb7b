"""Compiles many implementations for a GPU with few runs of NVRTC; needs no GPU and no toolkit."""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gpu_eval.compilation.batch import BatchCompiler, Failure, Members
from gpu_eval.compilation.cache import BinaryCache, Entry, content_hash
from gpu_eval.compilation.dialects import CUDA
from gpu_eval.compilation.sass import Cubin
from gpu_eval.compilation.unit import assemble_cuda, label
from gpu_eval.devices.base import Binary
from suiteopt.errors import MissingExtraError, UserError

# Raised by 1 whenever what is stored changes its meaning.
_FORMAT = "1"
_NAMES_SUFFIX = ".names.json"

FLAG_NAMES: Mapping[str, str] = {"-ffp-contract=off": "--fmad=false"}
"""Options of controls, as g++ names them, and what they are to NVRTC."""


class CompileError(Exception):
    """NVRTC refused a program; the message is its log."""


def compile_cubin(
    text: str, name: str, architecture: str, flags: tuple[str, ...], entries: tuple[str, ...]
) -> tuple[bytes, tuple[str, ...]]:
    """Compile a program to a cubin.

    Parameters
    ----------
    text, name : str
    architecture : str
        Such as ``sm_90``.
    flags : tuple of str
        Further options.
    entries : tuple of str
        Name expressions of the kernels.

    Returns
    -------
    cubin : bytes
    lowered : tuple of str
        The kernels' mangled names.

    Raises
    ------
    CompileError
        If the program does not compile.
    UserError
        If NVRTC does not know the architecture.
    """
    nvrtc = load_nvrtc()
    program = _value(nvrtc, nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, [], []))
    try:
        for entry in entries:
            _value(nvrtc, nvrtc.nvrtcAddNameExpression(program, entry.encode()))
        options = [option.encode() for option in (*compile_options(architecture), *flags)]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = _text(nvrtc, program, "ProgramLog")
            if "gpu-architecture" in log or status.name == "NVRTC_ERROR_INVALID_OPTION":
                raise UserError(
                    f"NVRTC {nvrtc_version()} does not know the architecture {architecture}; "
                    "install a newer nvidia-cuda-nvrtc"
                )
            raise CompileError(log)
        lowered = tuple(
            _value(nvrtc, nvrtc.nvrtcGetLoweredName(program, entry.encode())).decode()
            for entry in entries
        )
        size = _value(nvrtc, nvrtc.nvrtcGetCUBINSize(program))
        cubin = b" " * size
        _value(nvrtc, nvrtc.nvrtcGetCUBIN(program, cubin))
        return cubin, lowered
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def compile_options(architecture: str) -> tuple[str, ...]:
    """Return the options that every kernel is compiled with: no fast-math, FMA fused."""
    options = [f"--gpu-architecture={architecture}", "--std=c++17"]
    include = _half_headers()
    if include is not None:
        options.append(f"--include-path={include}")
    return tuple(options)


@lru_cache(maxsize=1)
def load_nvrtc() -> Any:
    """Import the bindings and find the library.

    Raises
    ------
    MissingExtraError
        If either is not installed.
    """
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise MissingExtraError("cuda-bindings", "gpu") from error
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise MissingExtraError("nvidia-cuda-nvrtc", "gpu") from error
    return nvrtc


def nvrtc_version() -> str:
    """Return NVRTC's version, such as ``13.0``."""
    _, major, minor = load_nvrtc().nvrtcVersion()
    return f"{major}.{minor}"


@lru_cache(maxsize=64)
def _names(path: Path) -> Mapping[str, Mapping[str, str]]:
    names: dict[str, dict[str, str]] = json.loads(path.read_text())
    return names


def entry_points(binary: Binary) -> Mapping[str, str]:
    """Return the mangled names of a binary's kernels, by name."""
    if binary.path is None:
        raise ValueError(f"{binary.id} did not compile")
    return _names(binary.path.with_name(binary.path.name + _NAMES_SUFFIX))[binary.symbol]


class NvrtcCompiler(BatchCompiler):
    """Compiles for one architecture.

    Parameters
    ----------
    architecture : str
        Such as ``sm_90``.
    """

    def __init__(self, architecture: str) -> None:
        self.architecture = architecture
        options = [o for o in compile_options(architecture) if "include-path" not in o]
        super().__init__(CUDA, content_hash([_FORMAT, nvrtc_version(), *options]))

    def build(self, members: Members, cache: BinaryCache) -> dict[str, Entry] | Failure:
        """Compile a unit; its cubin and the mangled names of its kernels are stored."""
        kernels = [prepared.source.kernels for _, prepared in members]
        expressions = [
            f"{label(index)}::{kernel}" for index, names in enumerate(kernels) for kernel in names
        ]
        flags = tuple(FLAG_NAMES.get(flag, flag) for flag in members[0][1].source.flags)
        text = assemble_cuda([prepared for _, prepared in members])
        try:
            cubin, lowered = compile_cubin(
                text, "unit.cu", self.architecture, flags, tuple(expressions)
            )
        except CompileError as error:
            return Failure(str(error), timed_out=False)
        found = dict(zip(expressions, lowered, strict=True))
        names = {
            label(index): {kernel: found[f"{label(index)}::{kernel}"] for kernel in kernels[index]}
            for index in range(len(members))
        }
        unit = content_hash([key for key, _ in members]) + ".cubin"
        cache.add_unit(unit + _NAMES_SUFFIX, json.dumps(names, sort_keys=True).encode())
        cache.add_unit(unit, cubin)
        code = Cubin(cubin)
        entries = {
            key: Entry(
                unit,
                label(index),
                code.hash_of(list(names[label(index)].values()), label(index)),
                "",
            )
            for index, (key, _) in enumerate(members)
        }
        for key, entry in entries.items():
            cache.add(key, entry)
        return entries


def _half_headers() -> Path | None:
    """Return where cuda_fp16.h lies, if the package that has it is installed."""
    for package, below in (("nvidia.cu13", "include"), ("nvidia.cuda_runtime", "include")):
        try:
            spec = find_spec(package)
        except ModuleNotFoundError:
            continue
        for place in (spec.submodule_search_locations or []) if spec else []:
            directory = Path(place) / below
            if (directory / "cuda_fp16.h").is_file():
                return directory
    return None


def _value(nvrtc: Any, answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompileError(f"unit.cu(1): error: {status.name}")
    return values[0] if values else None


def _text(nvrtc: Any, program: Any, what: str) -> str:
    size = _value(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program))
    buffer: bytes = b" " * size
    _value(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return str(buffer.decode(errors="replace")).rstrip("\0 \n")
