// y = min(max(x, low), high), four elements a thread, NaN kept by comparing instead of fmaxf.

__device__ __forceinline__ float bounded(float value, float low, float high) {
    return value < low ? low : (value > high ? high : value);
}

__global__ void hardtanh_vectorised(const float* __restrict__ x, float* __restrict__ y, long long n,
                                    float low, float high) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long n4 = n / 4;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long tail = n4 * 4 + i; tail < n; tail += stride) {
        y[tail] = bounded(x[tail], low, high);
    }
    for (; i < n4; i += stride) {
        float4 v = x4[i];
        v.x = bounded(v.x, low, high);
        v.y = bounded(v.y, low, high);
        v.z = bounded(v.z, low, high);
        v.w = bounded(v.w, low, high);
        y4[i] = v;
    }
}
