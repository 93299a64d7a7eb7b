import torch


def match_reference(data, output, reference, rtol=1e-05, atol=1e-08):
    expected = reference(data)
    if output.shape != expected.shape:
        return False, "shape"
    wrong = (output - expected).abs() > atol + rtol * expected.abs()
    wrong = wrong | torch.logical_xor(output.isnan(), expected.isnan())
    return not bool(wrong.any()), f"{int(wrong.sum())} elements differ"


def make_match_reference(reference, **tolerances):
    return lambda data, output: match_reference(data, output, reference, **tolerances)
