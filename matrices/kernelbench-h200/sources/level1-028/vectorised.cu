// y = clamp(x + 3, 0, 6) / 6, four elements a thread; a partial last vector is done in the kernel's
// second half. Written with comparisons, so that NaN passes through.

__device__ __forceinline__ float hard_sigmoid(float value) {
    float shifted = value + 3.0f;
    shifted = shifted < 0.0f ? 0.0f : shifted;
    shifted = shifted > 6.0f ? 6.0f : shifted;
    return shifted / 6.0f;
}

__global__ void hardsigmoid_vectorised(const float* __restrict__ x, float* __restrict__ y,
                                       long long n) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long n4 = n / 4;
    if (k < n4) {
        float4 v = reinterpret_cast<const float4*>(x)[k];
        v.x = hard_sigmoid(v.x);
        v.y = hard_sigmoid(v.y);
        v.z = hard_sigmoid(v.z);
        v.w = hard_sigmoid(v.w);
        reinterpret_cast<float4*>(y)[k] = v;
    }
    if (k < n % 4) {
        y[n4 * 4 + k] = hard_sigmoid(x[n4 * 4 + k]);
    }
}
