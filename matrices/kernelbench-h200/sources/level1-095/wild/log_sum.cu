// Cross entropy, one block a row; the logarithm of the sum.
#define MINUS_INFINITY __int_as_float(0xff800000)

__device__ float tree(float v, float* scratch, bool maximum) {
    int tid = threadIdx.x;
    scratch[tid] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            float other = scratch[tid + s];
            scratch[tid] = maximum ? fmaxf(scratch[tid], other) : scratch[tid] + other;
        }
        __syncthreads();
    }
    float result = scratch[0];
    __syncthreads();
    return result;
}

__global__ void cross_entropy_log_sum(const float* x, const long long* targets, float* losses, int classes) {
    __shared__ float scratch[128];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * classes;
    float largest = MINUS_INFINITY;
    for (int i = tid; i < classes; i += blockDim.x) {
        largest = fmaxf(largest, row[i]);
    }
    largest = tree(largest, scratch, true);
    float sum = 0.0f;
    for (int i = tid; i < classes; i += blockDim.x) {
        sum += expf(row[i] - largest);
    }
    sum = tree(sum, scratch, false);
    if (tid == 0) {
        float logit = row[targets[blockIdx.x]] - largest;
        losses[blockIdx.x] = logf(sum) - logit;
    }
}

__global__ void cross_entropy_log_sum_mean(const float* losses, float* loss, int rows) {
    __shared__ float scratch[128];
    float sum = 0.0f;
    for (int r = threadIdx.x; r < rows; r += blockDim.x) {
        sum += losses[r];
    }
    sum = tree(sum, scratch, false);
    if (threadIdx.x == 0) {
        loss[0] = sum / rows;
    }
}
