// A three-dimensional tensor times a matrix: since B is the same for all, the tensor's matrices are
// one tall matrix. 64 threads make a 32 x 16 tile from dynamic shared memory, a thread eight rows
// of one column; loads of the next tiles are issued before the current ones are used.

constexpr int kTileM = 32;
constexpr int kTileN = 16;
constexpr int kTileK = 16;
constexpr int kThreads = 64;
constexpr int kRows = 8;
constexpr int kLoadsA = kTileM * kTileK / kThreads;
constexpr int kLoadsB = kTileK * kTileN / kThreads;

__global__ void matmul3d_flattened(const float* __restrict__ a, const float* __restrict__ b,
                                   float* __restrict__ c, int rows, int cols, int depth) {
    extern __shared__ float staged[];
    float* tile_a = staged;                    // [k][row]
    float* tile_b = staged + kTileK * kTileM;  // [k][col]

    const int tid = threadIdx.x;
    const int row0 = blockIdx.y * kTileM;
    const int col0 = blockIdx.x * kTileN;
    const int own_col = tid % kTileN;
    const int own_row = tid / kTileN * kRows;

    float next_a[kLoadsA];
    float next_b[kLoadsB];
    float acc[kRows] = {};
    // One step more than there are tiles: the first only loads, the last only multiplies.
    for (int k0 = -kTileK; k0 < depth; k0 += kTileK) {
        const int ahead = k0 + kTileK;
        if (ahead < depth) {
#pragma unroll
            for (int i = 0; i < kLoadsA; ++i) {
                const int at = tid + i * kThreads;
                const int row = row0 + at / kTileK;
                const int k = ahead + at % kTileK;
                next_a[i] = 0.0f;
                if (row < rows && k < depth) {
                    next_a[i] = a[static_cast<long long>(row) * depth + k];
                }
            }
#pragma unroll
            for (int i = 0; i < kLoadsB; ++i) {
                const int at = tid + i * kThreads;
                const int k = ahead + at / kTileN;
                const int col = col0 + at % kTileN;
                next_b[i] = 0.0f;
                if (k < depth && col < cols) {
                    next_b[i] = b[k * cols + col];
                }
            }
        }
        if (k0 >= 0) {
#pragma unroll
            for (int k = 0; k < kTileK; ++k) {
                const float factor = tile_b[k * kTileN + own_col];
#pragma unroll
                for (int i = 0; i < kRows; ++i) {
                    acc[i] += tile_a[k * kTileM + own_row + i] * factor;
                }
            }
        }
        __syncthreads();
        if (ahead < depth) {
#pragma unroll
            for (int i = 0; i < kLoadsA; ++i) {
                const int at = tid + i * kThreads;
                tile_a[(at % kTileK) * kTileM + at / kTileK] = next_a[i];
            }
#pragma unroll
            for (int i = 0; i < kLoadsB; ++i) {
                tile_b[tid + i * kThreads] = next_b[i];
            }
            __syncthreads();
        }
    }

    if (col0 + own_col >= cols) {
        return;
    }
    for (int i = 0; i < kRows && row0 + own_row + i < rows; ++i) {
        c[static_cast<long long>(row0 + own_row + i) * cols + col0 + own_col] = acc[i];
    }
}
