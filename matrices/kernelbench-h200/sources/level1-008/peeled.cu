// C = A B where no extent is a multiple of anything, without checks in the inside: whole tiles of
// the reduction take an unchecked step, the rest of it a checked one, and so do all steps of the
// blocks at the right and lower edge. 256 threads make a 16 x 32 tile, two outputs each.

constexpr int kTileM = 16;
constexpr int kTileN = 32;
constexpr int kTileK = 16;

struct Tiles {
    float a[kTileM][kTileK];
    float b[kTileK][kTileN];
};

template <bool kChecked>
__device__ __forceinline__ void step(Tiles& tiles, const float* __restrict__ a,
                                     const float* __restrict__ b, int row0, int col0, int k0, int m,
                                     int n, int k, float& left, float& right) {
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    const int a_row = row0 + ty;
    const int a_col = k0 + tx;
    const bool in_a = !kChecked || (a_row < m && a_col < k);
    tiles.a[ty][tx] = in_a ? a[a_row * k + a_col] : 0.0f;

    const int b_row = k0 + ty;
    const int b_col = col0 + tx;
    const bool in_b = !kChecked || b_row < k;
    tiles.b[ty][tx] = in_b && (!kChecked || b_col < n) ? b[b_row * n + b_col] : 0.0f;
    tiles.b[ty][tx + 16] = in_b && (!kChecked || b_col + 16 < n) ? b[b_row * n + b_col + 16] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int kk = 0; kk < kTileK; ++kk) {
        const float factor = tiles.a[ty][kk];
        left += factor * tiles.b[kk][tx];
        right += factor * tiles.b[kk][tx + 16];
    }
    __syncthreads();
}

__global__ void matmul_peeled(const float* __restrict__ a, const float* __restrict__ b,
                              float* __restrict__ c, int m, int n, int k) {
    __shared__ Tiles tiles;

    const int row0 = blockIdx.y * kTileM;
    const int col0 = blockIdx.x * kTileN;
    const bool inside = row0 + kTileM <= m && col0 + kTileN <= n;
    const int whole = inside ? k / kTileK * kTileK : 0;

    float left = 0.0f;
    float right = 0.0f;
    for (int k0 = 0; k0 < whole; k0 += kTileK) {
        step<false>(tiles, a, b, row0, col0, k0, m, n, k, left, right);
    }
    for (int k0 = whole; k0 < k; k0 += kTileK) {
        step<true>(tiles, a, b, row0, col0, k0, m, n, k, left, right);
    }

    const int row = row0 + threadIdx.y;
    const int col = col0 + threadIdx.x;
    if (row < m) {
        if (col < n) {
            c[row * n + col] = left;
        }
        if (col + 16 < n) {
            c[row * n + col + 16] = right;
        }
    }
}
