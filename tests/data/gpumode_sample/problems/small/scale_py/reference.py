import torch
from utils import make_match_reference


def ref_kernel(data):
    x, output = data
    return torch.cumsum(x.double(), dim=0).float()


def generate_input(size: int, seed: int, mode: int = 0):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(size, device="cuda", dtype=torch.float32, generator=gen).contiguous()
    return x, torch.empty(size, device="cuda", dtype=torch.float32)


RTOL = 1e-3
check_implementation = make_match_reference(ref_kernel, rtol=RTOL)
