// C = A B with short sums, bound by writing C: a block makes 16 rows x 32 columns, a thread four
// rows of one column. Values of B come straight from memory, a warp's side by side; the rows of A
// are staged 32 terms at a time and read as broadcasts.

constexpr int kCols = 32;
constexpr int kRows = 16;
constexpr int kOwnRows = 4;
constexpr int kTileK = 32;
constexpr int kThreads = kCols * kRows / kOwnRows;

__global__ void matmul_columns(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c, int m, int n, int k) {
    __shared__ float rows_a[kTileK][kRows + 1];

    const int tid = threadIdx.y * kCols + threadIdx.x;
    const int first_row = blockIdx.y * kRows;
    const int own_row = threadIdx.y * kOwnRows;
    const int col = blockIdx.x * kCols + threadIdx.x;
    // What is multiplied beyond the last row or column is not stored.
    const float* column = b + min(col, n - 1);

    float acc[kOwnRows];
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
        acc[i] = 0.0f;
    }
    for (int k0 = 0; k0 < k; k0 += kTileK) {
        const int terms = min(kTileK, k - k0);
        for (int i = tid; i < kRows * kTileK; i += kThreads) {
            const int row = min(first_row + i / kTileK, m - 1);
            const int at = i % kTileK;
            if (at < terms) {
                rows_a[at][i / kTileK] = a[row * k + k0 + at];
            }
        }
        __syncthreads();
        for (int at = 0; at < terms; ++at) {
            const float factor = __ldg(column + static_cast<size_t>(k0 + at) * n);
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                acc[i] += rows_a[at][own_row + i] * factor;
            }
        }
        __syncthreads();
    }

    if (col < n) {
        const int rows = min(kOwnRows, m - first_row - own_row);
        for (int i = 0; i < rows; ++i) {
            c[static_cast<size_t>(first_row + own_row + i) * n + col] = acc[i];
        }
    }
}
