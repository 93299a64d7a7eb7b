// The second half of a split reduction: adds the partial products, which lie one after the other,
// in the order of their number.
#pragma once

__global__ void combine_partials(const float* __restrict__ partial, float* __restrict__ c,
                                 int elements, int splits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements) {
        return;
    }
    float total = partial[i];
    for (int s = 1; s < splits; ++s) {
        total += partial[static_cast<long long>(s) * elements + i];
    }
    c[i] = total;
}
