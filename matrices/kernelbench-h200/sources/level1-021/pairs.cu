// The logistic function by exp(-|x|), two elements a load; an odd last element goes to the thread
// behind the last pair.

#include "activation_sigmoid.cuh"

__global__ void sigmoid_pairs(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long pair = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long pairs = n / 2;
    if (pair < pairs) {
        const float2* x2 = reinterpret_cast<const float2*>(x);
        float2* y2 = reinterpret_cast<float2*>(y);
        float2 v = x2[pair];
        v.x = sigmoid(v.x);
        v.y = sigmoid(v.y);
        y2[pair] = v;
    } else if (pair == pairs && n % 2 != 0) {
        y[n - 1] = sigmoid(x[n - 1]);
    }
}
