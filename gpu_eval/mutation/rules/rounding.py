"""Expressions that round a float to a narrower format, self-contained: they need no header.

Each is a lambda over the float's bits, so that the value is evaluated once. Rounding is to
nearest, ties to even, as the hardware's conversions do; the fp16 form knows denormals and
overflow to infinity, and all keep NaN and infinity.
"""

FP16 = (
    "[](float v) { const int b = __float_as_int(v); const float a = fabsf(v); "
    "return a < 6.103515625e-05f ? copysignf((a + 0.5f) - 0.5f, v) "
    ": a < 65520.0f ? __int_as_float((b + 0xfff + ((b >> 13) & 1)) & ~0x1fff) "
    ": v * __int_as_float(0x7f800000); }"
)
BF16 = (
    "[](float v) { const int b = __float_as_int(v); "
    "return v != v ? v : __int_as_float((b + 0x7fff + ((b >> 16) & 1)) & ~0xffff); }"
)


def rounded(lambda_text: str, value: str) -> str:
    """Return the expression that rounds a value by one of the lambdas above."""
    return f"{lambda_text}({value})"


def tf32(value: str) -> str:
    """Return a value cut to the 10 mantissa bits of TF32, as tensor cores read fp32 operands."""
    return f"__int_as_float(__float_as_int({value}) & ~0x1fff)"


def rounded_vector(lambda_text: str, value: str) -> str:
    """Return the expression that rounds all four lanes of a float4."""
    lanes = ", ".join(f"r(u.{lane})" for lane in "xyzw")
    return f"[](float4 u) {{ auto r = {lambda_text}; return make_float4({lanes}); }}({value})"
