// Index of the smallest element along the middle dimension of (batch, rows, cols), the first of
// equal ones; the first NaN where there is one. 32 columns x 8 threads a block: a thread takes an
// eighth of the rows, all before those of the next, so that of equal candidates the earlier
// thread's is the first.

constexpr int kCols = 32;
constexpr int kParts = 8;

__device__ __forceinline__ bool is_less(float value, float best) {
    return value < best || (value != value && best == best);
}

__global__ void argmin_row_parts(const float* __restrict__ x, long long* __restrict__ y, int rows,
                                 int cols) {
    __shared__ float values[kParts][kCols];
    __shared__ int places[kParts][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * kCols + tx;
    const long long batch = blockIdx.y;
    const int length = (rows + kParts - 1) / kParts;
    const int begin = min(ty * length, rows);
    const int end = min(begin + length, rows);

    int place = -1;
    if (col < cols && begin < end) {
        const float* column = x + batch * rows * cols + col;
        float best = column[static_cast<long long>(begin) * cols];
        place = begin;
        for (int row = begin + 1; row < end; ++row) {
            const float value = column[static_cast<long long>(row) * cols];
            if (is_less(value, best)) {
                best = value;
                place = row;
            }
        }
        values[ty][tx] = best;
    }
    places[ty][tx] = place;
    __syncthreads();

    if (ty == 0 && col < cols) {
        float best = values[0][tx];
        for (int part = 1; part < kParts; ++part) {
            if (places[part][tx] >= 0 && is_less(values[part][tx], best)) {
                best = values[part][tx];
                place = places[part][tx];
            }
        }
        y[batch * cols + col] = place;
    }
}
