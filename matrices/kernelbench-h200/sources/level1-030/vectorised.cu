// y = x / (1 + |x|), four elements a load in a grid-stride loop; the loop's last turn may be a
// partial vector.

__device__ __forceinline__ float softsign(float value) {
    return value / (1.0f + fabsf(value));
}

__global__ void softsign_vectorised(const float* __restrict__ x, float* __restrict__ y,
                                    long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x * 4;
    long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
    for (; i + 3 < n; i += step) {
        const float4 v = reinterpret_cast<const float4*>(x)[i / 4];
        float4 r;
        r.x = softsign(v.x);
        r.y = softsign(v.y);
        r.z = softsign(v.z);
        r.w = softsign(v.w);
        reinterpret_cast<float4*>(y)[i / 4] = r;
    }
    for (; i < n; ++i) {
        y[i] = softsign(x[i]);
    }
}
