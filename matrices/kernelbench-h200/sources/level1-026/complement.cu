// y = x erfc(-x / sqrt 2) / 2: the complement keeps the digits that 1 + erf loses where x is
// negative. One row of the matrix a grid row, two elements a thread, half a block apart.

constexpr float kInverseRoot2 = 0.70710678118654752f;

__device__ __forceinline__ float gelu(float value) {
    return 0.5f * value * erfcf(-value * kInverseRoot2);
}

__global__ void gelu_complement(const float* __restrict__ x, float* __restrict__ y, int rows,
                                int cols) {
    const int row = blockIdx.y;
    if (row >= rows) {
        return;
    }
    const long long base = static_cast<long long>(row) * cols;
    const int col = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    const int next = col + blockDim.x;
    if (col < cols) {
        y[base + col] = gelu(x[base + col]);
    }
    if (next < cols) {
        y[base + next] = gelu(x[base + next]);
    }
}
