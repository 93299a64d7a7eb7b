// Mean smooth L1 loss with the knee at one: a grid-stride loop over vectors of four elements, each
// thread's terms added up in double, and a tree in double within the block. Blocks leave their sums
// in a workspace of doubles; one block adds these and divides.

constexpr int kThreads = 128;

__device__ __forceinline__ float smooth_l1(float prediction, float target) {
    const float z = fabsf(prediction - target);
    return z < 1.0f ? 0.5f * z * z : z - 0.5f;
}

__device__ __forceinline__ double block_total(double value, double* scratch) {
    const int tid = threadIdx.x;
    scratch[tid] = value;
    __syncthreads();
    for (int stride = kThreads / 2; stride > 0; stride >>= 1) {
        if (tid < stride) {
            scratch[tid] += scratch[tid + stride];
        }
        __syncthreads();
    }
    return scratch[0];
}

__global__ void huber_partial(const float* __restrict__ predictions,
                              const float* __restrict__ targets, double* __restrict__ partial,
                              long long n) {
    __shared__ double scratch[kThreads];

    const long long first = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * kThreads;
    const long long quads = n / 4;
    const float4* p4 = reinterpret_cast<const float4*>(predictions);
    const float4* t4 = reinterpret_cast<const float4*>(targets);

    double sum = 0.0;
    for (long long i = first; i < quads; i += step) {
        const float4 p = p4[i];
        const float4 t = t4[i];
        const float low = smooth_l1(p.x, t.x) + smooth_l1(p.y, t.y);
        const float high = smooth_l1(p.z, t.z) + smooth_l1(p.w, t.w);
        sum += low + high;
    }
    for (long long i = quads * 4 + first; i < n; i += step) {
        sum += smooth_l1(predictions[i], targets[i]);
    }
    sum = block_total(sum, scratch);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void huber_finish(const double* __restrict__ partial, float* __restrict__ loss,
                             int blocks, long long n) {
    __shared__ double scratch[kThreads];

    double sum = 0.0;
    for (int b = threadIdx.x; b < blocks; b += kThreads) {
        sum += partial[b];
    }
    sum = block_total(sum, scratch);
    if (threadIdx.x == 0) {
        loss[0] = static_cast<float>(sum / n);
    }
}
