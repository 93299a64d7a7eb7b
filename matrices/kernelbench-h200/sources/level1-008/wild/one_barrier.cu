// Tiled matrix product with one barrier a tile.
#define TILE 16

__global__ void matmul_one_barrier(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[(long long)row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(long long)(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            acc += As[ty][i] * Bs[i][tx];
        }
    }
    if (row < M && col < N) {
        C[(long long)row * N + col] = acc;
    }
}
