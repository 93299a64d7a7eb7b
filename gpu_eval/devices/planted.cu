// One fault for each tool of compute-sanitizer, and none: what a tool must see, or its silence
// about other kernels says nothing. One block of 128 threads, n = 128.

__global__ void planted_none(const float* x, float* scratch, float* out, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    tile[i] = x[i];
    scratch[i] = x[i];
    __syncthreads();
    if (i < n) out[i] = tile[127 - i] + scratch[i];
}

// Nothing orders the reads of other warps' elements after their writes.
__global__ void planted_race(const float* x, float* scratch, float* out, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    tile[i] = x[i];
    if (i < n) out[i] = tile[127 - i];
}

// The last thread writes one element beyond the output.
__global__ void planted_overrun(const float* x, float* scratch, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i + 1] = x[i];
}

// Nobody has written the workspace.
__global__ void planted_uninitialised(const float* x, float* scratch, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = x[i] + scratch[i];
}

// The barrier in the loop is not reached by all threads of the second warp.
__global__ void planted_barrier(const float* x, float* scratch, float* out, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    float sum = 0.0f;
    for (int base = 0; base + i < n + n / 2 - 16; base += n) {
        tile[i] = x[i] + static_cast<float>(base);
        __syncthreads();
        sum += tile[(i * 7 + 3) % 48];
    }
    out[i] = sum;
}
