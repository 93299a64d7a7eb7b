// Sums of each element of a row and all after it, one warp a row, four rows a block. The warp walks
// from the right end in steps of 128 elements, four a lane: sums within the lane, a suffix scan of
// the lanes' totals by shuffles, and a carry from the steps to the right.

constexpr int kRows = 4;
constexpr int kItems = 4;
constexpr int kStep = 32 * kItems;
constexpr unsigned kFull = 0xffffffffu;

__global__ void reverse_cumsum_warp_rows(const float* __restrict__ x, float* __restrict__ y,
                                         int rows, int cols) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRows + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const float* row_in = x + static_cast<long long>(row) * cols;
    float* row_out = y + static_cast<long long>(row) * cols;

    float carry = 0.0f;
    const int steps = (cols + kStep - 1) / kStep;
    for (int step = steps - 1; step >= 0; --step) {
        const int first = step * kStep + lane * kItems;
        float items[kItems];
#pragma unroll
        for (int k = 0; k < kItems; ++k) {
            items[k] = first + k < cols ? row_in[first + k] : 0.0f;
        }
#pragma unroll
        for (int k = kItems - 2; k >= 0; --k) {
            items[k] += items[k + 1];
        }

        float suffix = items[0];
        for (int offset = 1; offset < 32; offset <<= 1) {
            const float right = __shfl_down_sync(kFull, suffix, offset);
            if (lane + offset < 32) {
                suffix += right;
            }
        }
        const float whole = __shfl_sync(kFull, suffix, 0);
        float after = __shfl_down_sync(kFull, suffix, 1);
        after = lane == 31 ? carry : carry + after;

#pragma unroll
        for (int k = 0; k < kItems; ++k) {
            if (first + k < cols) {
                row_out[first + k] = items[k] + after;
            }
        }
        carry += whole;
    }
}
