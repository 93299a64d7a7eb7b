// One fault for each tool of compute-sanitizer, and none: what a tool must see, or its silence
// about other kernels says nothing. One block of 128 threads, n = 100.

__global__ void planted_none(const float* x, float* scratch, float* out, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    tile[i] = i < n ? x[i] : 0.0f;
    if (i < n) scratch[i] = tile[i];
    __syncthreads();
    if (i < n) out[i] = tile[127 - i] + scratch[i];
}

// Nothing orders the reads of other warps' elements after their writes.
__global__ void planted_race(const float* x, float* scratch, float* out, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    tile[i] = i < n ? x[i] : 0.0f;
    if (i < n) out[i] = tile[127 - i];
}

// One thread too many writes.
__global__ void planted_overrun(const float* x, float* scratch, float* out, int n) {
    int i = threadIdx.x;
    if (i <= n) out[i] = 1.0f;
}

// Nobody has written the workspace.
__global__ void planted_uninitialised(const float* x, float* scratch, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = x[i] + scratch[i];
}

// The barrier in the loop is reached by some threads while the others wait at the one after it.
// (Threads that have ended count as arrived: without the second barrier nothing would be wrong.)
__global__ void planted_barrier(const float* x, float* scratch, float* out, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    float sum = 0.0f;
    for (int base = 0; base + i < 176; base += 128) {
        tile[i] = i < n ? x[i] : static_cast<float>(base);
        __syncthreads();
        sum += tile[(i * 7 + 3) % 48];
    }
    __syncthreads();
    if (i < n) out[i] = sum + tile[0];
}
