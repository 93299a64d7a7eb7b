// GELU by erf, a grid-stride loop.
__global__ void gelu_erf_grid_stride(const float* x, float* y, long long n) {
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float v = x[i];
        y[i] = v * 0.5f * (1.0f + erff(v * 0.70710678118654752f));
    }
}
