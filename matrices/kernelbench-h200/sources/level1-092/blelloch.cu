// Sums of all elements of a row before each one: up a tree and down again in shared memory
// (Blelloch), which gives them without the element itself. 64 threads take 128 elements of a row at
// a time, two rows a block; one element in every 32 is left free, so that a tree's strides spread
// over the banks.

constexpr int kRows = 2;
constexpr int kThreads = 64;
constexpr int kTile = 2 * kThreads;

__device__ __forceinline__ int spread(int i) {
    return i + i / 32;
}

__global__ void exclusive_cumsum_blelloch(const float* __restrict__ x, float* __restrict__ y,
                                          int rows, int cols) {
    __shared__ float trees[kRows][kTile + kTile / 32];

    const int tid = threadIdx.x;
    float* tree = trees[threadIdx.y];
    const int row = blockIdx.x * kRows + threadIdx.y;
    const bool used = row < rows;
    const long long start = static_cast<long long>(row) * cols;

    float carry = 0.0f;
    for (int first = 0; first < cols; first += kTile) {
        const int low = first + tid;
        const int high = low + kThreads;
        tree[spread(tid)] = used && low < cols ? x[start + low] : 0.0f;
        tree[spread(tid + kThreads)] = used && high < cols ? x[start + high] : 0.0f;
        __syncthreads();

        for (int stride = 1; stride < kTile; stride *= 2) {
            const int right = (tid + 1) * stride * 2 - 1;
            if (right < kTile) {
                tree[spread(right)] += tree[spread(right - stride)];
            }
            __syncthreads();
        }
        const float total = tree[spread(kTile - 1)];
        __syncthreads();
        if (tid == 0) {
            tree[spread(kTile - 1)] = 0.0f;
        }
        __syncthreads();
        for (int stride = kTile / 2; stride > 0; stride /= 2) {
            const int right = (tid + 1) * stride * 2 - 1;
            if (right < kTile) {
                const float left = tree[spread(right - stride)];
                tree[spread(right - stride)] = tree[spread(right)];
                tree[spread(right)] += left;
            }
            __syncthreads();
        }

        if (used && low < cols) {
            y[start + low] = carry + tree[spread(tid)];
        }
        if (used && high < cols) {
            y[start + high] = carry + tree[spread(tid + kThreads)];
        }
        carry += total;
        __syncthreads();
    }
}
