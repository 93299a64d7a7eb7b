// Prefix sums of x times a mask of bytes along rows, two rows a block, 128 elements of each at a
// time: all threads multiply and stage them, then one warp a row rakes over them, four a lane, and
// all threads write them out. A row's carry lives in shared memory.

#include "warp_scan.cuh"

constexpr int kRows = 2;
constexpr int kTile = 128;
constexpr int kLane = kTile / 32;

__global__ void masked_cumsum_raking(const float* __restrict__ x,
                                     const unsigned char* __restrict__ mask, float* __restrict__ y,
                                     int rows, int cols) {
    __shared__ float staged[kRows][kTile];
    __shared__ float carries[kRows];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int ty = threadIdx.y;
    const int row = blockIdx.x * kRows + ty;
    const long long start = static_cast<long long>(row) * cols;
    if (tid == 0) {
        carries[ty] = 0.0f;
    }

    for (int first = 0; first < cols; first += kTile) {
        const int i = first + tid;
        const bool inside = row < rows && i < cols;
        staged[ty][tid] = inside ? x[start + i] * static_cast<float>(mask[start + i]) : 0.0f;
        __syncthreads();

        if (warp == 0) {
            float* raked = staged[ty] + lane * kLane;
            for (int k = 1; k < kLane; ++k) {
                raked[k] += raked[k - 1];
            }
            const float scanned = warp_scan(raked[kLane - 1]);
            const float left = __shfl_up_sync(0xffffffffu, scanned, 1);
            const float before = lane == 0 ? carries[ty] : carries[ty] + left;
            for (int k = 0; k < kLane; ++k) {
                raked[k] += before;
            }
            __syncwarp();
            if (lane == 31) {
                carries[ty] = raked[kLane - 1];
            }
        }
        __syncthreads();

        if (inside) {
            y[start + i] = staged[ty][tid];
        }
        __syncthreads();
    }
}
