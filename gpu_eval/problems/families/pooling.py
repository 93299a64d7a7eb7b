"""What pooling problems share: windows as shifted views of a padded image, and their controls."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from gpu_eval.problems.definition import Control, Tensors
from gpu_eval.problems.orders import Order, Terms, interleaved, ordered_controls

_CONVOLUTIONS = {
    1: torch.nn.functional.conv1d,
    2: torch.nn.functional.conv2d,
    3: torch.nn.functional.conv3d,
}


@dataclass(frozen=True, slots=True)
class Window:
    """A pooling window, the same along each of the last ``axes`` dimensions of ``x``."""

    axes: int
    kernel: int
    stride: int
    padding: int = 0
    dilation: int = 1

    @property
    def span(self) -> int:
        """How many positions a window covers along an axis, those that it skips included."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def size(self) -> int:
        """How many taps a window has."""
        return int(self.kernel**self.axes)

    def padded(self, x: torch.Tensor, value: float) -> torch.Tensor:
        """Return an image with a border of a value on both sides of each axis."""
        return torch.nn.functional.pad(x, (self.padding,) * (2 * self.axes), value=value)

    def along(self, x: torch.Tensor, axis: int) -> list[torch.Tensor]:
        """Return views of a padded image, one a tap along an axis: its value in every window."""
        last = (x.shape[axis] - self.span) // self.stride * self.stride
        lines = x.movedim(axis, -1)
        starts = range(0, self.span, self.dilation)
        taps = [lines[..., start : start + last + 1 : self.stride] for start in starts]
        return [tap.movedim(-1, axis) for tap in taps]

    def taps(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return all taps of a padded image, the last axis running fastest."""
        parts = [x]
        for axis in range(-self.axes, 0):
            parts = [tap for part in parts for tap in self.along(part, axis)]
        return parts

    def unfolded(self, x: torch.Tensor) -> torch.Tensor:
        """Return a padded image's windows, their taps in one further dimension."""
        for axis in range(-self.axes, 0):
            x = x.unfold(x.dim() + axis, self.span, self.stride)[..., :: self.dilation]
            # What was unfolded goes to the front, so that axes keep counting from the end.
            x = x.movedim(-1, 0)
        return x.flatten(0, self.axes - 1)


def max_controls(
    window: Window, eager: Callable[[Tensors], Tensors], *further: Control
) -> tuple[Control, ...]:
    """Return the controls of a max-pooling ``x`` to ``y``: nothing rounds, so all are identical.

    Parameters
    ----------
    window : Window
    eager : callable
        The reference.
    further : Control
        Those of the problem alone.
    """

    def padded(tensors: Tensors) -> torch.Tensor:
        return window.padded(tensors["x"], float("-inf"))

    def by_taps(tensors: Tensors) -> Tensors:
        return {"y": _largest(window.taps(padded(tensors))).contiguous()}

    def by_axes(tensors: Tensors) -> Tensors:
        x = padded(tensors)
        for axis in range(-1, -window.axes - 1, -1):
            x = _largest(window.along(x, axis))
        return {"y": x.contiguous()}

    def backward(tensors: Tensors) -> Tensors:
        return {"y": _largest(window.taps(padded(tensors))[::-1]).contiguous()}

    def by_windows(tensors: Tensors) -> Tensors:
        return {"y": window.unfolded(padded(tensors)).amax(dim=0)}

    separable = (Control("axes", "separable", run=by_axes, identical=True),)
    return (
        Control("taps", "serial", run=by_taps, identical=True),
        *(separable if window.axes > 1 else ()),
        Control("taps-reversed", "reversed", run=backward, identical=True),
        Control("windows", "algorithm", run=by_windows, identical=True),
        *further,
        Control("eager", "eager", run=eager, identical=True),
    )


def average_controls(window: Window, eager: Callable[[Tensors], Tensors]) -> tuple[Control, ...]:
    """Return the controls of an average pooling ``x`` to ``y`` that counts the padding.

    Parameters
    ----------
    window : Window
    eager : callable
        The reference.
    """

    def padded(tensors: Tensors) -> torch.Tensor:
        return window.padded(tensors["x"], 0.0)

    def in_order(tensors: Tensors, order: Order) -> Tensors:
        taps = torch.stack(window.taps(padded(tensors)))
        return {"y": order(Terms(taps), window.size) / window.size}

    def in_two_lanes(tensors: Tensors) -> Tensors:
        return in_order(tensors, interleaved(2))

    def by_axes(tensors: Tensors) -> Tensors:
        x = padded(tensors)
        for axis in range(-1, -window.axes - 1, -1):
            parts = window.along(x, axis)
            x = parts[0].clone()
            for part in parts[1:]:
                x += part
        return {"y": (x * (1 / window.size)).contiguous()}

    def by_convolution(tensors: Tensors) -> Tensors:
        x = tensors["x"]
        images = x.flatten(0, 1)[:, None]
        weight = torch.full_like(images[:1, :1].flatten()[:1], 1 / window.size)
        weight = weight.expand(1, 1, *(window.kernel,) * window.axes)
        y = _CONVOLUTIONS[window.axes](images, weight, stride=window.stride, padding=window.padding)
        return {"y": y.reshape(*x.shape[:2], *y.shape[2:])}

    def by_windows(tensors: Tensors) -> Tensors:
        return {"y": window.unfolded(padded(tensors)).mean(dim=0)}

    return (
        *ordered_controls(in_order),
        Control("interleaved-2", "interleaved", run=in_two_lanes),
        Control("axes", "separable", run=by_axes),
        Control("convolution", "algorithm", run=by_convolution),
        Control("windows", "library", run=by_windows),
        Control("eager", "eager", run=eager, identical=True),
    )


def _largest(parts: list[torch.Tensor]) -> torch.Tensor:
    best = parts[0].clone()
    for part in parts[1:]:
        best = torch.maximum(best, part)
    return best
