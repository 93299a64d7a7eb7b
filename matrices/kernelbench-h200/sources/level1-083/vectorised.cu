// Depthwise 3 x 1 convolution, four columns a thread: rows are read and written as float4 where a
// row's length allows it, and element by element where it does not. A block of 8 x 16 threads
// covers 32 columns x 32 rows, each thread two rows that share two of their inputs.

#include "conv_vector.cuh"

constexpr int kThreadsX = 8;
constexpr int kThreadsY = 16;
constexpr int kRows = 2;

__device__ __forceinline__ float4 weighted(float4 a, float4 b, float4 c, float w0, float w1,
                                           float w2) {
    float4 sum;
    sum.x = fmaf(c.x, w2, fmaf(b.x, w1, a.x * w0));
    sum.y = fmaf(c.y, w2, fmaf(b.y, w1, a.y * w0));
    sum.z = fmaf(c.z, w2, fmaf(b.z, w1, a.z * w0));
    sum.w = fmaf(c.w, w2, fmaf(b.w, w1, a.w * w0));
    return sum;
}

__global__ void depthwise_vectorised(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, int channels, int height, int width,
                                     int out_height) {
    const int col = (blockIdx.x * kThreadsX + threadIdx.x) * 4;
    const int row = (blockIdx.y * kThreadsY + threadIdx.y) * kRows;
    if (col >= width || row >= out_height) {
        return;
    }
    const long long plane = blockIdx.z;
    const float* filter = weight + blockIdx.z % channels * 3;
    const float w0 = filter[0], w1 = filter[1], w2 = filter[2];

    const bool aligned = width % 4 == 0;
    const int left = width - col;
    const float* source = x + (plane * height + row) * width + col;
    float* target = y + (plane * out_height + row) * width + col;
    const float4 first = load4(source, left, aligned);
    const float4 second = load4(source + width, left, aligned);
    const float4 third = load4(source + 2 * width, left, aligned);
    store4(target, weighted(first, second, third, w0, w1, w2), left, aligned);
    if (row + 1 < out_height) {
        const float4 fourth = load4(source + 3 * width, left, aligned);
        store4(target + width, weighted(second, third, fourth, w0, w1, w2), left, aligned);
    }
}
