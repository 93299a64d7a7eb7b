"""The check: input groups where a reference has them, else five draws; allclose at 1e-4."""

import torch
from config import num_correct_trials


def trials(context):
    if "get_input_groups" in context:
        return context["get_input_groups"]()
    return [context["get_inputs"]() for _ in range(num_correct_trials)]


def timed_inputs(context):
    if "get_input_groups" in context:
        return context["get_input_groups"]()[0]
    return context["get_inputs"]()


def check(candidate, path):
    context = {}
    exec(candidate, context)
    with open(path) as handle:
        exec(f"__file__ = {path!r}\n" + handle.read(), context)
    torch.manual_seed(1024)
    reference = context["Model"](*context["get_init_inputs"]())
    torch.manual_seed(1024)
    model = context["ModelNew"](*context["get_init_inputs"]())
    with torch.no_grad():
        return all(
            torch.allclose(reference(*inputs), model(*inputs), atol=1e-4, rtol=1e-4)
            for inputs in trials(context)
        )
