from gpu_eval.mutation.catalogue import faults
from gpu_eval.mutation.diff import unified_diff
from gpu_eval.mutation.fault import Fault
from tests.gpu_eval.mutation.made import files, problem

MADE = problem()
SUBSTRATE = MADE.substrates[0]


def fault(identifier: str) -> Fault:
    found = faults(MADE, SUBSTRATE, files("first.cu"), SUBSTRATE.plan)
    return next(f for f in found if f.id == identifier)


def test_diff_of_a_source_fault() -> None:
    one = fault("made/001:first.cu:lt-to-le:1")
    assert unified_diff(one, files("first.cu"), SUBSTRATE.plan) == (
        "--- a/first.cu\n"
        "+++ b/first.cu\n"
        "@@ -2,5 +2,5 @@\n"
        " // Größe ± ε: the text before this line is not ASCII\n"
        " __global__ void first(const float* x, float* y, int n) {\n"
        "   const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "-  if (i < n) y[i] = used(x[i]);\n"
        "+  if (i <= n) y[i] = used(x[i]);\n"
        " }\n"
    )


def test_diff_of_a_launch_fault() -> None:
    one = fault("made/001:one.plan:launch-grid-minus-one:1")
    assert unified_diff(one, files("first.cu"), SUBSTRATE.plan) == (
        "--- a/one.plan\n"
        "+++ b/one.plan\n"
        "@@ -1 +1 @@\n"
        "-first<<<(ceil_div(n, 128), 1, 1), (128, 1, 1), 0>>>(pointer x, pointer y, int32 n)\n"
        "+first<<<(ceil_div(n, 128) - 1, 1, 1), (128, 1, 1), 0>>>(pointer x, pointer y, int32 n)\n"
    )


def test_a_last_line_without_a_line_end_is_marked() -> None:
    source = {name: text.rstrip("\n") for name, text in files("first.cu").items()}
    source["first.cu"] = source["first.cu"].rstrip("}").rstrip() + " }"
    found = faults(MADE, SUBSTRATE, source, SUBSTRATE.plan)
    one = next(f for f in found if f.rule == "lt-to-le")
    text = unified_diff(one, source, SUBSTRATE.plan)
    assert text.count("\n\\ No newline at end of file\n") == 2
    assert text.endswith("\n")


def test_every_fault_has_a_diff() -> None:
    for one in faults(MADE, SUBSTRATE, files("first.cu"), SUBSTRATE.plan):
        text = unified_diff(one, files("first.cu"), SUBSTRATE.plan)
        assert sum(line.startswith("+") for line in text.splitlines()) >= 1
