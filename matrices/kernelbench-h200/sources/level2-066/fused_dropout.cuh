// Whether dropout keeps an element: a hash of its place and a seed against the probability of
// being dropped. Not the numbers of any library's generator, which a kernel cannot know.
#pragma once

__device__ __forceinline__ bool dropout_keeps(unsigned int place, unsigned int seed,
                                              float probability) {
    unsigned int bits = place * 2654435761u ^ seed;
    bits ^= bits >> 16;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    bits *= 3266489917u;
    bits ^= bits >> 16;
    return (bits >> 8) * 5.9604645e-8f >= probability;
}
