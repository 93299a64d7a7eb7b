// A matrix times a number: a grid-stride loop over groups of four elements, and what is left over
// for the first threads of the grid. The matrix holds 2^30 elements by contract.

__global__ void scale_vectorised(const float* __restrict__ a, float* __restrict__ c, float s,
                                 long long elements) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long quads = elements / 4;

    const float4* in = reinterpret_cast<const float4*>(a);
    float4* out = reinterpret_cast<float4*>(c);
    for (long long i = first; i < quads; i += step) {
        float4 quad = in[i];
        quad.x *= s;
        quad.y *= s;
        quad.z *= s;
        quad.w *= s;
        out[i] = quad;
    }
    for (long long i = quads * 4 + first; i < elements; i += step) {
        c[i] = a[i] * s;
    }
}
