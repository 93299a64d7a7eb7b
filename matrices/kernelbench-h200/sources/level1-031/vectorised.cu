// ELU, four elements a load in a grid-stride loop, then the tail one element at a time.

#include "activation_elu.cuh"

__global__ void elu_vectorised(const float* __restrict__ x, float* __restrict__ y, long long n,
                               float alpha) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long stride = static_cast<long long>(blockDim.x) * gridDim.x;
    const long long vectors = n / 4;
    const float4* source = reinterpret_cast<const float4*>(x);
    float4* target = reinterpret_cast<float4*>(y);

    for (long long v = first; v < vectors; v += stride) {
        float4 value = source[v];
        value.x = elu(value.x, alpha);
        value.y = elu(value.y, alpha);
        value.z = elu(value.z, alpha);
        value.w = elu(value.w, alpha);
        target[v] = value;
    }
    for (long long i = 4 * vectors + first; i < n; i += stride) {
        y[i] = elu(x[i], alpha);
    }
}
