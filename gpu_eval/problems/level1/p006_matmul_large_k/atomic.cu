// C = A B, the reduction split over grid layers whose partial sums are added atomically, in
// whatever order they come, to an output that was zeroed before.

constexpr int kTile = 16;

__global__ void clear(float* __restrict__ c, int elements) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        c[i] = 0.0f;
    }
}

__global__ void matmul_atomic(const float* __restrict__ a, const float* __restrict__ b, float* c,
                              int m, int n, int k, int length) {
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int col = blockIdx.x * kTile + threadIdx.x;
    if (row >= m || col >= n) {
        return;
    }
    const int begin = blockIdx.z * length;
    const int end = min(begin + length, k);
    float acc = 0.0f;
    for (int i = begin; i < end; ++i) {
        acc += a[static_cast<long long>(row) * k + i] * b[static_cast<long long>(i) * n + col];
    }
    atomicAdd(c + row * n + col, acc);
}
