// Sums of each element of a row and all after it in three kernels: totals of segments of 128
// elements, for each segment the sum of the totals to its right, and a scan of every segment that
// starts from there. The output is written once; totals travel through a workspace of
// rows x segments.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "warp_scan.cuh"

constexpr int kSegment = 128;
constexpr int kRows = 4;

__global__ void reverse_segment_totals(const float* __restrict__ x, float* __restrict__ totals,
                                       int cols) {
    __shared__ float warp_totals[kSegment / 32];

    const int i = blockIdx.x * kSegment + threadIdx.x;
    const long long row = blockIdx.y;
    const float total = block_sum(i < cols ? x[row * cols + i] : 0.0f, warp_totals);
    if (threadIdx.x == 0) {
        totals[row * gridDim.x + blockIdx.x] = total;
    }
}

// What stands to the right of each segment, one warp a row, from the right end to the left.
__global__ void reverse_totals(const float* __restrict__ totals, float* __restrict__ after,
                               int rows, int segments) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRows + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const long long first = static_cast<long long>(row) * segments;
    float carry = 0.0f;
    for (int end = segments; end > 0; end -= 32) {
        const int s = end - 1 - lane;
        const float own = s >= 0 ? totals[first + s] : 0.0f;
        const float scanned = warp_scan(own);
        const float right = __shfl_up_sync(0xffffffffu, scanned, 1);
        if (s >= 0) {
            after[first + s] = lane == 0 ? carry : carry + right;
        }
        carry += __shfl_sync(0xffffffffu, scanned, 31);
    }
}

__global__ void reverse_segment_scan(const float* __restrict__ x, const float* __restrict__ after,
                                     float* __restrict__ y, int cols) {
    __shared__ float sums[kSegment];

    const int tid = threadIdx.x;
    const int i = blockIdx.x * kSegment + tid;
    const long long row = blockIdx.y;
    float sum = i < cols ? x[row * cols + i] : 0.0f;
    sums[tid] = sum;
    __syncthreads();
    for (int offset = 1; offset < kSegment; offset *= 2) {
        const float right = tid + offset < kSegment ? sums[tid + offset] : 0.0f;
        __syncthreads();
        sum += right;
        sums[tid] = sum;
        __syncthreads();
    }
    if (i < cols) {
        y[row * cols + i] = sum + after[row * gridDim.x + blockIdx.x];
    }
}
