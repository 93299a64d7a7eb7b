// A sum over the words of several stretches of memory: what tells whether any of them has changed.

struct Stretch {
    unsigned long long address;
    unsigned long long words;
};

static __device__ __forceinline__ unsigned long long stirred(unsigned long long x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    return x;
}

// One stretch for each blockIdx.y. Sums modulo 2^64 do not depend on the order of their terms, so
// the atomic additions give the same bits every time.
extern "C" __global__ void checksum(const Stretch* stretches, unsigned long long* sum)
{
    const Stretch stretch = stretches[blockIdx.y];
    const unsigned int* words = (const unsigned int*)stretch.address;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long salt = (blockIdx.y + 1ULL) * 0x9e3779b97f4a7c15ULL;
    const unsigned long long quads = (stretch.address & 15) == 0 ? stretch.words / 4 : 0;
    unsigned long long mine = 0;
#pragma unroll 4
    for (unsigned long long i = first; i < quads; i += stride) {
        const uint4 w = ((const uint4*)words)[i];
        mine += stirred(salt + 2 * i + ((unsigned long long)w.x << 32 | w.y));
        mine += stirred(salt + 2 * i + 1 + ((unsigned long long)w.z << 32 | w.w));
    }
    for (unsigned long long i = 4 * quads + first; i < stretch.words; i += stride)
        mine += stirred(salt + (i << 33) + words[i]);
    for (int offset = 16; offset > 0; offset >>= 1)
        mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if ((threadIdx.x & 31) == 0) atomicAdd(sum, mine);
}
