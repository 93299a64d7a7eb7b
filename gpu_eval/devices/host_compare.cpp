#include "host_compare.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace hostgpu {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();

// d over a scale: infinite over zero, but 0 over 0 is 0.
double ratio(double difference, double scale) {
    if (difference == 0) return 0;
    return scale == 0 ? INFINITE : difference / scale;
}

double root_mean(double sum, std::size_t count) {
    return count ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

std::uint64_t hash_bits(std::uint64_t hash, const float* data, std::size_t count) {
    hash = mix(hash, count);
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        std::uint64_t word;
        std::memcpy(&word, data + i, 8);
        hash = mix(hash, word);
    }
    if (i < count) {
        std::uint32_t word;
        std::memcpy(&word, data + i, 4);
        hash = mix(hash, word);
    }
    return hash;
}

}  // namespace

void comparison_begin(Comparison& total) {
    std::memset(&total, 0, sizeof total);
    total.hash = 0x243F6A8885A308D3u;
}

void comparison_add(Comparison& total, const float* output, const float* reference,
                    const double* truth, std::size_t count) {
    double by_candidate = 0, by_reference = 0, largest = 0, relative = 0, either = 0;
    double top = 0, squares = 0, truth_close = 0, truth_largest = 0, truth_squares = 0, errors = 0;
    std::size_t pairs = 0, truth_pairs = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double out = output[i], ref = reference[i], exact = truth[i];
        const bool finite = std::isfinite(out);
        if (finite && std::isfinite(ref)) {
            const double magnitude = std::fabs(ref), d = std::fabs(out - ref);
            ++pairs;
            squares += ref * ref;
            if (magnitude > top) top = magnitude;
            if (d != 0) {
                const double quotient = ratio(d, magnitude);
                by_candidate = std::fmax(by_candidate, d / (1 + std::fabs(out)));
                by_reference = std::fmax(by_reference, d / (1 + magnitude));
                if (d > largest) largest = d;
                if (quotient > relative) relative = quotient;
                either = std::fmax(either, std::fmin(d, quotient));
            }
        } else if (std::isnan(out) || std::isnan(ref)) {
            ++total.counts[std::isnan(out) && std::isnan(ref) ? NAN_BOTH : NAN_ONE];
        } else if (out != ref) {
            ++total.counts[INF_MISMATCH];
        }
        if (!finite) {
            ++total.counts[NONFINITE_OUTPUT];
        } else if (std::isfinite(exact)) {
            const double magnitude = std::fabs(exact), d = std::fabs(out - exact);
            ++truth_pairs;
            truth_squares += exact * exact;
            errors += d * d;
            if (d > truth_largest) truth_largest = d;
            truth_close = std::fmax(truth_close, d / (1 + magnitude));
        }
    }
    const double scale = root_mean(squares, pairs), truth_scale = root_mean(truth_squares, truth_pairs);
    const double found[STATISTICS] = {
        by_candidate, by_reference, largest, relative, either,
        largest / (1 + top),
        ratio(largest, scale),
        truth_close,
        ratio(truth_largest, truth_scale),
        ratio(root_mean(errors, truth_pairs), truth_scale),
    };
    for (int i = 0; i < STATISTICS; ++i) total.statistics[i] = std::fmax(total.statistics[i], found[i]);
    total.hash = hash_bits(total.hash, output, count);
}

std::uint64_t count_words(const void* data, std::size_t bytes, std::uint32_t word) {
    const char* bytes_of = static_cast<const char*>(data);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
        std::uint32_t value;
        std::memcpy(&value, bytes_of + i, 4);
        found += value == word;
    }
    return found;
}

}  // namespace hostgpu
