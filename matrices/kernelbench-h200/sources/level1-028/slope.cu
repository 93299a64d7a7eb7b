// y = clamp(x / 6 + 1/2, 0, 1) by one fused multiply-add: each thread takes four columns of a row,
// a block apart. The clamps would turn NaN into a bound, so NaN goes around them.

constexpr int kPerThread = 4;

__global__ void hardsigmoid_slope(const float* __restrict__ x, float* __restrict__ y, int cols) {
    const long long base = static_cast<long long>(blockIdx.y) * cols;
    int col = blockIdx.x * (kPerThread * blockDim.x) + threadIdx.x;
    for (int k = 0; k < kPerThread && col < cols; ++k, col += blockDim.x) {
        const float value = x[base + col];
        const float line = fmaf(value, 1.0f / 6.0f, 0.5f);
        y[base + col] = value != value ? value : fminf(fmaxf(line, 0.0f), 1.0f);
    }
}
