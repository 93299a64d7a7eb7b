// y = max(x, 0) + log(1 + exp(-|x|)), which needs no threshold: four elements a load, two loads a
// thread in neighbouring vectors; the last n % 4 elements by the first threads of block 0.

__device__ __forceinline__ float softplus(float value) {
    return fmaxf(value, 0.0f) + log1pf(expf(-fabsf(value)));
}

__device__ __forceinline__ float4 softplus4(float4 v) {
    return make_float4(softplus(v.x), softplus(v.y), softplus(v.z), softplus(v.w));
}

__global__ void softplus_stable(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    const long long whole = n / 4;
    const long long first = 2 * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
    for (long long k = first; k < first + 2 && k < whole; ++k) {
        y4[k] = softplus4(x4[k]);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) {
        const long long i = whole * 4 + threadIdx.x;
        y[i] = softplus(x[i]);
    }
}
