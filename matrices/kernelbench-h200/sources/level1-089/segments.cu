// Prefix sums along the rows of a matrix in three kernels, so that long rows fill the machine:
// segments of 128 elements are scanned on their own (log-step, two buffers in shared memory),
// then the segments' totals of a row by one warp, then every segment gets what came before it.
// Totals travel through a workspace of rows x segments.

#include "warp_scan.cuh"

constexpr int kSegment = 128;
constexpr int kRows = 4;

__global__ void cumsum_segments(const float* __restrict__ x, float* __restrict__ y,
                                float* __restrict__ totals, int cols) {
    __shared__ float buffer[2][kSegment];

    const int tid = threadIdx.x;
    const int segment = blockIdx.x;
    const long long row = blockIdx.y;
    const int i = segment * kSegment + tid;

    int current = 0;
    buffer[current][tid] = i < cols ? x[row * cols + i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < kSegment; offset <<= 1) {
        float sum = buffer[current][tid];
        if (tid >= offset) {
            sum += buffer[current][tid - offset];
        }
        current = 1 - current;
        buffer[current][tid] = sum;
        __syncthreads();
    }
    if (i < cols) {
        y[row * cols + i] = buffer[current][tid];
    }
    if (tid == kSegment - 1) {
        totals[row * gridDim.x + segment] = buffer[current][tid];
    }
}

// Replaces the totals of each row by the sum of those before, one warp a row.
__global__ void cumsum_totals(float* __restrict__ totals, int rows, int segments) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRows + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float* row_totals = totals + static_cast<long long>(row) * segments;
    float carry = 0.0f;
    for (int start = 0; start < segments; start += 32) {
        const int s = start + lane;
        const float own = s < segments ? row_totals[s] : 0.0f;
        const float scanned = warp_scan(own);
        const float previous = __shfl_up_sync(0xffffffffu, scanned, 1);
        if (s < segments) {
            row_totals[s] = lane == 0 ? carry : carry + previous;
        }
        carry += __shfl_sync(0xffffffffu, scanned, 31);
    }
}

__global__ void cumsum_add(float* __restrict__ y, const float* __restrict__ totals, int cols) {
    const int i = blockIdx.x * kSegment + threadIdx.x;
    const long long row = blockIdx.y;
    if (i < cols) {
        y[row * cols + i] += totals[row * gridDim.x + blockIdx.x];
    }
}
