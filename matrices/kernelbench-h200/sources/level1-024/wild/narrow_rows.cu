// Online log-softmax: a running maximum and sum a thread, merged in a tree.
#define MINUS_INFINITY __int_as_float(0xff800000)

__global__ void logsoftmax_online_unguarded(const float* x, float* y, int cols) {
    __shared__ float maxima[128];
    __shared__ float sums[128];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    float m = MINUS_INFINITY;
    float s = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        float larger = fmaxf(m, row[i]);
        s = s * expf(m - larger) + expf(row[i] - larger);
        m = larger;
    }
    maxima[tid] = m;
    sums[tid] = s;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step >>= 1) {
        if (tid < step) {
            float other = maxima[tid + step];
            float larger = fmaxf(maxima[tid], other);
            // Two threads that saw nothing: minus infinity minus itself.
            sums[tid] = sums[tid] * expf(maxima[tid] - larger) +
                        sums[tid + step] * expf(other - larger);
            maxima[tid] = larger;
        }
        __syncthreads();
    }
    float shift = maxima[0] + logf(sums[0]);
    for (int i = tid; i < cols; i += blockDim.x) {
        out[i] = row[i] - shift;
    }
}
