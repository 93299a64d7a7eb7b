// The largest element and where it is first met. A NaN is larger than everything, the first NaN
// larger than the others; an index below 0 stands for no element at all.
#pragma once

struct Largest {
    float value;
    int index;
};

__device__ __forceinline__ bool exceeds(float value, float best) {
    return value > best || (value != value && best == best);
}

// Takes elements in the order of their indices: an equal one that comes later does not count.
__device__ __forceinline__ void take(Largest& best, float value, int index) {
    if (best.index < 0 || exceeds(value, best.value)) {
        best.value = value;
        best.index = index;
    }
}

// Puts two together in any order: of equal elements the smaller index counts.
__device__ __forceinline__ Largest larger(Largest a, Largest b) {
    if (b.index < 0) {
        return a;
    }
    if (a.index < 0 || exceeds(b.value, a.value)) {
        return b;
    }
    if (exceeds(a.value, b.value)) {
        return a;
    }
    return b.index < a.index ? b : a;
}
