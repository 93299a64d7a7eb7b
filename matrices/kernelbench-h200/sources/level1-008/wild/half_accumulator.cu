// Tiled matrix product whose tiles and sum are half precision, "for throughput".
#include <cuda_fp16.h>

#define TILE 16

__global__ void matmul_half(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ __half As[TILE][TILE];
    __shared__ __half Bs[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    __half acc = __float2half(0.0f);
    for (int k0 = 0; k0 < K; k0 += TILE) {
        int ka = k0 + tx;
        int kb = k0 + ty;
        As[ty][tx] = __float2half(row < M && ka < K ? A[(long long)row * K + ka] : 0.0f);
        Bs[ty][tx] = __float2half(col < N && kb < K ? B[(long long)kb * N + col] : 0.0f);
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            acc = __hfma(As[ty][i], Bs[i][tx], acc);
        }
        __syncthreads();
    }
    if (row < M && col < N) {
        C[(long long)row * N + col] = __half2float(acc);
    }
}
