// C = A^T B^T = (B A)^T with A stored (k, m) and B stored (n, k): a block makes a 32 x 32 tile of
// the plain product B A, whose loads are coalesced, and mirrors it in shared memory on its way out,
// so that stores are. 256 threads, four outputs each, 8 rows apart.

constexpr int kTile = 32;
constexpr int kStep = 8;
constexpr int kParts = kTile / kStep;

__global__ void transposed_both_mirrored(const float* __restrict__ a, const float* __restrict__ b,
                                         float* __restrict__ c, int m, int n, int k) {
    __shared__ float left[kTile][kTile + 1];   // of B, and then the product
    __shared__ float right[kTile][kTile + 1];  // of A

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row0 = blockIdx.y * kTile;  // rows of B are columns of C
    const int col0 = blockIdx.x * kTile;  // columns of A are rows of C

    float acc[kParts] = {};
    for (int k0 = 0; k0 < k; k0 += kTile) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
            const int line = ty + part * kStep;
            left[line][tx] =
                (row0 + line < n && k0 + tx < k) ? b[(row0 + line) * k + k0 + tx] : 0.0f;
            right[line][tx] =
                (k0 + line < k && col0 + tx < m) ? a[(k0 + line) * m + col0 + tx] : 0.0f;
        }
        __syncthreads();
        for (int kk = 0; kk < kTile; ++kk) {
            const float factor = right[kk][tx];
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                acc[part] += left[ty + part * kStep][kk] * factor;
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int part = 0; part < kParts; ++part) {
        left[tx][ty + part * kStep] = acc[part];
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
        const int row = col0 + ty + part * kStep;
        const int col = row0 + tx;
        if (row < m && col < n) {
            c[row * n + col] = left[ty + part * kStep][tx];
        }
    }
}
