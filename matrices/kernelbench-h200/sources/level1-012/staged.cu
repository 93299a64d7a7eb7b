// diag(a) B scales the rows of B: a block stages the factors of its 16 rows in shared memory, and
// its four warps walk through them in turn, a lane an element. Blocks share the columns of the rows
// and stride over them.

constexpr int kRows = 16;
constexpr int kWarps = 4;

__global__ void diagonal_staged(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ c, int n, int m) {
    __shared__ float factors[kRows];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_row = blockIdx.y * kRows;
    if (warp == 0 && lane < kRows && first_row + lane < n) {
        factors[lane] = a[first_row + lane];
    }
    __syncthreads();

    for (int r = warp; r < kRows; r += kWarps) {
        const int row = first_row + r;
        if (row >= n) {
            break;
        }
        const float factor = factors[r];
        for (int col = blockIdx.x * 32 + lane; col < m; col += gridDim.x * 32) {
            c[row * m + col] = factor * b[row * m + col];
        }
    }
}
