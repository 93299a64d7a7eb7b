// y = x sigmoid(x) with the logistic function by exp(-|x|), one element at a time in a grid-stride
// loop that stays on the grid a GPU can hold at once.

#include "activation_sigmoid.cuh"

__global__ void swish_stable(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long step = static_cast<long long>(blockDim.x) * gridDim.x;
    long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    while (i < n) {
        const float value = x[i];
        y[i] = value * sigmoid(value);
        i += step;
    }
}
