// Softmax whose shuffle reduction of the maximum also takes in lanes that hold nothing but zero.
#define MINUS_INFINITY __int_as_float(0xff800000)

__global__ void softmax_maximum_of_zero(const float* x, float* y, int cols) {
    __shared__ float scratch[4];
    int tid = threadIdx.x;
    int lane = tid % 32;
    int warp = tid / 32;
    const float* row = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;

    float largest = MINUS_INFINITY;
    for (int i = tid; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, row[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    if (lane == 0) {
        scratch[warp] = largest;
    }
    __syncthreads();
    // Four warps, 32 lanes: the other 28 contribute zeros.
    largest = lane < 4 ? scratch[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        sum += expf(row[i] - largest);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        scratch[warp] = sum;
    }
    __syncthreads();
    sum = scratch[0] + scratch[1] + scratch[2] + scratch[3];
    for (int i = tid; i < cols; i += blockDim.x) {
        out[i] = expf(row[i] - largest) / sum;
    }
}
