// y = x (1 + erf(x / sqrt 2)) / 2, four elements a load, in a grid-stride loop over 64-bit
// indices; the last n % 4 elements one by one.

constexpr float kInverseRoot2 = 0.70710678118654752f;

__device__ __forceinline__ float gelu(float value) {
    return 0.5f * value * (1.0f + erff(value * kInverseRoot2));
}

__global__ void gelu_vectorised(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long n4 = n / 4;

    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    for (long long i = first; i < n4; i += step) {
        float4 v = x4[i];
        v.x = gelu(v.x);
        v.y = gelu(v.y);
        v.z = gelu(v.z);
        v.w = gelu(v.w);
        y4[i] = v;
    }

    for (long long i = n4 * 4 + first; i < n; i += step) {
        y[i] = gelu(x[i]);
    }
}
