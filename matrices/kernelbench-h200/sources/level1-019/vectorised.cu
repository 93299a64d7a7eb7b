// y = max(x, 0), four elements a load, in a grid-stride loop; the last n % 4 elements one by one.
// NaN passes through, as the contract's reference lets it.

__device__ __forceinline__ float relu(float value) {
    return value < 0.0f ? 0.0f : value;
}

__global__ void relu_vectorised(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long n4 = n / 4;

    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    for (long long i = first; i < n4; i += step) {
        float4 v = x4[i];
        v.x = relu(v.x);
        v.y = relu(v.y);
        v.z = relu(v.z);
        v.w = relu(v.w);
        y4[i] = v;
    }

    for (long long i = n4 * 4 + first; i < n; i += step) {
        y[i] = relu(x[i]);
    }
}
