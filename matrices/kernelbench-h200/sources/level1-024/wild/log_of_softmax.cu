// Log-softmax as the logarithm of a softmax.
#define MINUS_INFINITY __int_as_float(0xff800000)

__global__ void log_of_softmax(const float* x, float* y, int cols) {
    __shared__ float scratch[128];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    float largest = MINUS_INFINITY;
    for (int i = tid; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, row[i]);
    }
    scratch[tid] = largest;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] = fmaxf(scratch[tid], scratch[tid + s]);
        }
        __syncthreads();
    }
    largest = scratch[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        sum += expf(row[i] - largest);
    }
    scratch[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }
    sum = scratch[0];
    for (int i = tid; i < cols; i += blockDim.x) {
        out[i] = logf(expf(row[i] - largest) / sum);
    }
}
