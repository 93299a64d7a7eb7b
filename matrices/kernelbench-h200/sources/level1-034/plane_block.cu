// InstanceNorm without parameters, one block of 32 x 4 threads a plane (an image's channel): a warp
// takes every fourth line of the plane and walks along it. Mean, squared deviations, result.

#include "warp_reduce.cuh"

constexpr int kCols = 32;
constexpr int kRows = 4;

__device__ __forceinline__ float sum_of_block(float value, float* line_totals) {
    value = warp_sum(value);
    if (threadIdx.x == 0) {
        line_totals[threadIdx.y] = value;
    }
    __syncthreads();
    float total = 0.0f;
    for (int r = 0; r < kRows; ++r) {
        total += line_totals[r];
    }
    return total;
}

__global__ void instancenorm_plane(const float* __restrict__ x, float* __restrict__ y, int height,
                                   int width, float eps) {
    __shared__ float sums[kRows];
    __shared__ float squares[kRows];

    const long long base = static_cast<long long>(blockIdx.x) * height * width;
    const float* plane = x + base;
    float* result = y + base;
    const float count = static_cast<float>(height) * width;

    float sum = 0.0f;
    for (int row = threadIdx.y; row < height; row += kRows) {
        for (int col = threadIdx.x; col < width; col += kCols) {
            sum += plane[row * width + col];
        }
    }
    const float mean = sum_of_block(sum, sums) / count;

    float square = 0.0f;
    for (int row = threadIdx.y; row < height; row += kRows) {
        for (int col = threadIdx.x; col < width; col += kCols) {
            const float deviation = plane[row * width + col] - mean;
            square += deviation * deviation;
        }
    }
    const float scale = rsqrtf(sum_of_block(square, squares) / count + eps);

    for (int row = threadIdx.y; row < height; row += kRows) {
        for (int col = threadIdx.x; col < width; col += kCols) {
            const int i = row * width + col;
            result[i] = (plane[i] - mean) * scale;
        }
    }
}
