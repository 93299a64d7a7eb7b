// ReLU, a grid-stride loop. NaN passes through, as in torch.
__global__ void relu_grid_stride(const float* x, float* y, long long n) {
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float v = x[i];
        y[i] = v < 0.0f ? 0.0f : v;
    }
}
