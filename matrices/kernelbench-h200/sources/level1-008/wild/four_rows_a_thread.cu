// Matrix product, 64 x 16 outputs a block, four rows a thread in registers.
#define TN 16
#define TM 64
#define TK 16

__global__ void matmul_four_rows(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[TM][TK];
    __shared__ float Bs[TK][TN];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TN + tx;
    int row0 = blockIdx.y * TM;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int r = 0; r < 4; ++r) {
            int row = row0 + ty + 16 * r;
            As[ty + 16 * r][tx] = row < M && k0 + tx < K ? A[(long long)row * K + k0 + tx] : 0.0f;
        }
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(long long)(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TK; ++i) {
            float b = Bs[i][tx];
            for (int r = 0; r < 4; ++r) {
                acc[r] += As[ty + 16 * r][i] * b;
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r) {
        int row = row0 + ty + 16 * r;
        if (row < M && col < N) {
            C[(long long)row * N + col] = acc[r];
        }
    }
}
