// The heart of register-blocked products: a thread's patch of outputs gets the outer product of a
// fragment of A's column and one of B's row.
#pragma once

template <int kRows, int kCols>
__device__ __forceinline__ void outer_product(float (&acc)[kRows][kCols],
                                              const float (&fragment_a)[kRows],
                                              const float (&fragment_b)[kCols]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
            acc[i][j] += fragment_a[i] * fragment_b[j];
        }
    }
}
