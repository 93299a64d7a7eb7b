// Prefix products along rows, one warp a row in steps of 32 elements, by shuffles. A product of 32
// factors in the middle of a row may leave the range of floats where the prefix does not: products
// travel as a mantissa in [0.5, 1) and an exponent, and become floats when they are written.

constexpr int kRows = 4;
constexpr unsigned kFull = 0xffffffffu;

struct Scaled {
    float mantissa;
    int exponent;
};

__device__ __forceinline__ Scaled normalised(float mantissa, int exponent) {
    int shift = 0;
    Scaled result;
    result.mantissa = frexpf(mantissa, &shift);
    result.exponent = exponent + shift;
    return result;
}

__device__ __forceinline__ Scaled times(Scaled a, Scaled b) {
    return normalised(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

__global__ void cumprod_scaled_scan(const float* __restrict__ x, float* __restrict__ y, int rows,
                                    int cols) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRows + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const long long start = static_cast<long long>(row) * cols;

    Scaled carry = normalised(1.0f, 0);
    for (int first = 0; first < cols; first += 32) {
        const int i = first + lane;
        Scaled product = normalised(i < cols ? x[start + i] : 1.0f, 0);
        for (int offset = 1; offset < 32; offset *= 2) {
            Scaled before;
            before.mantissa = __shfl_up_sync(kFull, product.mantissa, offset);
            before.exponent = __shfl_up_sync(kFull, product.exponent, offset);
            if (lane >= offset) {
                product = times(before, product);
            }
        }
        product = times(carry, product);
        if (i < cols) {
            y[start + i] = ldexpf(product.mantissa, product.exponent);
        }
        carry.mantissa = __shfl_sync(kFull, product.mantissa, 31);
        carry.exponent = __shfl_sync(kFull, product.exponent, 31);
    }
}
