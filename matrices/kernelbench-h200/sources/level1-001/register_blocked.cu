// C = A B for square row-major matrices: 128 threads make a 32 x 32 tile of C, each a patch of
// 4 x 2 outputs in registers, from 32 x 16 and 16 x 32 tiles in shared memory.

constexpr int kTileM = 32;
constexpr int kTileN = 32;
constexpr int kTileK = 16;
constexpr int kRows = 4;
constexpr int kCols = 2;
constexpr int kThreads = 128;

__global__ void matmul_register_blocked(const float* __restrict__ a, const float* __restrict__ b,
                                        float* __restrict__ c, int n) {
    // A is stored transposed, so that a thread's rows are neighbours; one column of padding keeps
    // the transposing stores off a single bank.
    __shared__ float tile_a[kTileK][kTileM + 1];
    __shared__ float tile_b[kTileK][kTileN];

    const int tid = threadIdx.x;
    const int first_row = blockIdx.y * kTileM;
    const int first_col = blockIdx.x * kTileN;
    const int thread_row = (tid / (kTileN / kCols)) * kRows;
    const int thread_col = (tid % (kTileN / kCols)) * kCols;

    float acc[kRows][kCols] = {};
    for (int k0 = 0; k0 < n; k0 += kTileK) {
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int row = first_row + i / kTileK;
            const int k = k0 + i % kTileK;
            tile_a[i % kTileK][i / kTileK] = (row < n && k < n) ? a[row * n + k] : 0.0f;
        }
        for (int i = tid; i < kTileK * kTileN; i += kThreads) {
            const int k = k0 + i / kTileN;
            const int col = first_col + i % kTileN;
            tile_b[i / kTileN][i % kTileN] = (k < n && col < n) ? b[k * n + col] : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < kTileK; ++k) {
            float fragment_a[kRows];
            float fragment_b[kCols];
            for (int i = 0; i < kRows; ++i) {
                fragment_a[i] = tile_a[k][thread_row + i];
            }
            for (int j = 0; j < kCols; ++j) {
                fragment_b[j] = tile_b[k][thread_col + j];
            }
            for (int i = 0; i < kRows; ++i) {
                for (int j = 0; j < kCols; ++j) {
                    acc[i][j] += fragment_a[i] * fragment_b[j];
                }
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < kRows; ++i) {
        const int row = first_row + thread_row + i;
        for (int j = 0; j < kCols; ++j) {
            const int col = first_col + thread_col + j;
            if (row < n && col < n) {
                c[row * n + col] = acc[i][j];
            }
        }
    }
}
