// Cumulative sum, every block of 64 elements by itself.
#define BLOCK 64

__global__ void cumsum_no_carry(const float* x, float* y, int cols) {
    __shared__ float scan[BLOCK];
    int tid = threadIdx.x;
    int col = blockIdx.x * BLOCK + tid;
    long long at = (long long)blockIdx.y * cols + col;
    scan[tid] = col < cols ? x[at] : 0.0f;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        float add = tid >= step ? scan[tid - step] : 0.0f;
        __syncthreads();
        scan[tid] += add;
        __syncthreads();
    }
    if (col < cols) {
        y[at] = scan[tid];
    }
}
