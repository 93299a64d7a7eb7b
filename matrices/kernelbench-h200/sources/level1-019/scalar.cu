// y = max(x, 0), one element a thread, one row of the matrix a grid row.
// fmaxf alone would turn NaN into 0; the contract's reference lets NaN pass.

__global__ void relu_scalar(const float* __restrict__ x, float* __restrict__ y, int rows,
                            int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (row < rows && col < cols) {
        const long long i = static_cast<long long>(row) * cols + col;
        const float value = x[i];
        y[i] = value != value ? value : fmaxf(value, 0.0f);
    }
}
