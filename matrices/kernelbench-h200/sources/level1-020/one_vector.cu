// y = x where x > 0, slope x elsewhere: four elements a thread and no loop. The grid covers n
// rounded up; the thread that meets the end takes what is left one by one.

__device__ __forceinline__ float leaky_relu(float value, float slope) {
    return value > 0.0f ? value : value * slope;
}

__global__ void leaky_relu_one_vector(const float* __restrict__ x, float* __restrict__ y,
                                      long long n, float slope) {
    const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= n) {
        const float4* x4 = reinterpret_cast<const float4*>(x);
        float4* y4 = reinterpret_cast<float4*>(y);
        const float4 in = x4[i / 4];
        float4 out;
        out.x = leaky_relu(in.x, slope);
        out.y = leaky_relu(in.y, slope);
        out.z = leaky_relu(in.z, slope);
        out.w = leaky_relu(in.w, slope);
        y4[i / 4] = out;
    } else {
        for (long long k = i; k < n; ++k) {
            y[k] = leaky_relu(x[k], slope);
        }
    }
}
