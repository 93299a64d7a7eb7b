// Statistics of suiteopt.matrix.schema over one output tensor, in one pass.
#ifndef HOSTGPU_COMPARE_H
#define HOSTGPU_COMPARE_H

#include <cstddef>
#include <cstdint>

namespace hostgpu {

// In the order of schema.STATISTICS and schema.COUNTS.
enum { ALLCLOSE_CANDIDATE, ALLCLOSE_REFERENCE, MAX_ABS, MAX_REL, EITHER_OR, GLOBAL, RMS,
       TRUTH_ALLCLOSE, TRUTH_RMS, TRUTH_RMS_ERROR, STATISTICS };
enum { NAN_BOTH, NAN_ONE, INF_MISMATCH, NONFINITE_OUTPUT, COUNTS };

struct Comparison {
    double statistics[STATISTICS];
    std::uint64_t counts[COUNTS];
    std::uint64_t hash;
};

void comparison_begin(Comparison& total);
// Fold a tensor in: statistics by their maximum, counts by their sum, bits into the hash.
void comparison_add(Comparison& total, const float* output, const float* reference,
                    const double* truth, std::size_t count);
std::uint64_t count_words(const void* data, std::size_t bytes, std::uint32_t word);

}  // namespace hostgpu

#endif
