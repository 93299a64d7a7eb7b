// y = x / (1 + exp(-x)), the product with the logistic function as one quotient. Rows whose length
// is a multiple of four are read in float4, others one by one: the launch plan chooses the kernel.

__device__ __forceinline__ float swish(float value) {
    return value / (1.0f + expf(-value));
}

__global__ void swish_rows_vector(const float* __restrict__ x, float* __restrict__ y, int vectors) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= vectors) {
        return;
    }
    const long long i = static_cast<long long>(blockIdx.y) * vectors + col;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    const float4 v = x4[i];
    y4[i] = make_float4(swish(v.x), swish(v.y), swish(v.z), swish(v.w));
}

__global__ void swish_rows_scalar(const float* __restrict__ x, float* __restrict__ y, int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const long long i = static_cast<long long>(blockIdx.y) * cols + col;
    y[i] = swish(x[i]);
}
