// Mean along the middle dimension, split over 6 blocks of rows / 6 rows each.
#define SPLITS 6

__global__ void mean_floor_split(const float* x, float* sums, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    int chunk = rows / SPLITS;
    int begin = blockIdx.y * chunk;
    int end = begin + chunk < rows ? begin + chunk : rows;
    const float* slab = x + (long long)blockIdx.z * rows * cols;
    float sum = 0.0f;
    for (int r = begin; r < end; ++r) {
        sum += slab[(long long)r * cols + col];
    }
    atomicAdd(&sums[(long long)blockIdx.z * cols + col], sum);
}

__global__ void mean_scale(const float* sums, float* y, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = sums[i] / rows;
    }
}
