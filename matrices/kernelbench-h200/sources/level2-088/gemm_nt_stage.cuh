// Stages a tile of a row-major matrix for a product along its rows: term k of row r goes to
// tile[k * pitch + r], zeros beyond the last row or term. All threads of a block take part; the
// caller puts a barrier after it.
#pragma once

template <int kRows, int kTerms, int kThreads>
__device__ __forceinline__ void stage_terms(float* tile, int pitch,
                                            const float* __restrict__ matrix, int first_row,
                                            int rows, int first_term, int terms, int tid) {
    for (int i = tid; i < kRows * kTerms; i += kThreads) {
        const int r = i / kTerms;
        const int k = i % kTerms;
        const bool inside = first_row + r < rows && first_term + k < terms;
        tile[k * pitch + r] =
            inside ? matrix[static_cast<long long>(first_row + r) * terms + first_term + k] : 0.0f;
    }
}
