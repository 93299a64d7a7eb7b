// GELU by its tanh form, tanh by exponentials.
__global__ void gelu_tanh_by_exp(const float* x, float* y, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        float z = 0.7978845608f * (v + 0.044715f * v * v * v);
        float e = expf(2.0f * z);
        float t = (e - 1.0f) / (e + 1.0f);
        y[i] = 0.5f * v * (1.0f + t);
    }
}
