"""Hidden inputs of problem 50: its own draw as it is, enlarged, shrunk and negated."""

import os
import runpy

import torch

FACTORS = (1.0, 3.0, 0.01, -1.0)
DEFINITION = os.path.join(
    os.path.dirname(os.path.abspath(__file__)),
    "../../KernelBench/level1/50_conv_standard_2D__square_input__square_kernel.py",
)


def get_hidden_inputs():
    draw = runpy.run_path(DEFINITION)["get_inputs"]
    return [
        [v * factor if torch.is_tensor(v) and v.is_floating_point() else v for v in draw()]
        for factor in FACTORS
    ]
