"""The check: fresh draws under trial seeds, allclose at a tolerance by precision."""

import torch

TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 1e-2}


class KernelExecResult:
    def __init__(self, compiled, correctness, metadata):
        self.compiled, self.correctness, self.metadata = compiled, correctness, metadata


def set_seed(seed):
    torch.manual_seed(seed)


def load(source, context, name):
    exec(compile(source, "<string>", "exec"), context)
    return context[name]


def eval_kernel_against_ref(
    original_model_src,
    custom_model_src,
    seed_num=42,
    num_correct_trials=1,
    verbose=False,
    device="cpu",
    precision=torch.float32,
):
    context, metadata = {}, {}
    model = load(original_model_src, context, "Model")
    get_init_inputs, get_inputs = context["get_init_inputs"], context["get_inputs"]
    set_seed(seed_num)
    init_inputs = get_init_inputs()
    with torch.no_grad():
        set_seed(seed_num)
        original_model = model(*init_inputs)
        custom = load(custom_model_src, context, "ModelNew")
        set_seed(seed_num)
        custom_model = custom(*init_inputs)
    kernel_exec_result = None
    try:
        kernel_exec_result = run_and_check_correctness(
            original_model,
            custom_model,
            get_inputs,
            metadata=metadata,
            num_correct_trials=num_correct_trials,
            seed=seed_num,
            precision=precision,
        )
    except Exception as error:
        metadata["runtime_error"] = error
        kernel_exec_result = KernelExecResult(True, False, metadata)
    set_seed(seed_num)
    kernel_exec_result.timed = get_inputs()
    return kernel_exec_result


def run_and_check_correctness(
    original_model, new_model, get_inputs_fn, metadata, num_correct_trials, seed, precision
):
    torch.manual_seed(seed)
    correctness_trial_seeds = [
        torch.randint(0, 2**32 - 1, (1,)).item() for _ in range(num_correct_trials)
    ]
    passed = 0
    with torch.no_grad():
        for trial_seed in correctness_trial_seeds:
            set_seed(trial_seed)
            inputs = get_inputs_fn()
            inputs = [x.to(precision) if isinstance(x, torch.Tensor) else x for x in inputs]
            set_seed(trial_seed)
            output = original_model.to(precision)(*inputs)
            output_new = new_model.to(precision)(*inputs)
            t = TOLERANCES[precision]
            passed += output.shape == output_new.shape and torch.allclose(
                output, output_new, atol=t, rtol=t
            )
    metadata["correctness_trials"] = f"({passed} / {num_correct_trials})"
    return KernelExecResult(True, passed == num_correct_trials, metadata)
