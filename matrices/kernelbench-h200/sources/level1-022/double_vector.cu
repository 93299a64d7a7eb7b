// y = tanh(x), two float4 a thread, one block apart; what n % 4 leaves over goes to the first
// threads of the last block.

__device__ __forceinline__ float4 tanh4(float4 v) {
    v.x = tanhf(v.x);
    v.y = tanhf(v.y);
    v.z = tanhf(v.z);
    v.w = tanhf(v.w);
    return v;
}

__global__ void tanh_double_vector(const float* __restrict__ x, float* __restrict__ y,
                                   long long n) {
    const long long n4 = n / 4;
    const long long a = static_cast<long long>(blockIdx.x) * (2 * blockDim.x) + threadIdx.x;
    const long long b = a + blockDim.x;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    if (a < n4) {
        y4[a] = tanh4(x4[a]);
    }
    if (b < n4) {
        y4[b] = tanh4(x4[b]);
    }
    const long long rest = n4 * 4 + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1 && rest < n) {
        y[rest] = tanhf(x[rest]);
    }
}
