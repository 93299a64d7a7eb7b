// The ground around the arenas of a GPU: memory that belongs to nobody and holds what is known.
//
// It is counted in chunks, which all hold the same words: floats in [1, 2), as behind the buffers
// of the host device, no two of a chunk alike. A stray read gives an ordinary wrong value, and one
// that is stored somewhere else in the ground shows there.
//
// Blocks (x, y): chunk and part of it. `closeness` says of each chunk which sectors of 32 bytes are
// looked at: one in so many (a power of 2 up to GROUND_GROUP), or none (0) where an arena lies. What
// is looked at less closely is part of what is looked at more closely.

#define GROUND_GROUP 128
#define GROUND_AHEAD 4  // loads that a thread has under way: few chunks are few blocks

static __device__ __forceinline__ unsigned int ground_word(unsigned int i)
{
    return 0x3f800000u | i * 0x9e3779b1u >> 9;
}

static __device__ __forceinline__ unsigned int ground_damage(uint4 found, unsigned int quad)
{
    const unsigned int i = 4 * quad;
    return (found.x != ground_word(i)) + (found.y != ground_word(i + 1))
        + (found.z != ground_word(i + 2)) + (found.w != ground_word(i + 3));
}

// Write the words of the chunks from `first` on; where `closeness` is given, not those of arenas.
extern "C" __global__ void ground_fill(
    uint4* ground, const unsigned int* closeness, unsigned int first, unsigned int quads)
{
    const unsigned int chunk = first + blockIdx.x;
    if (closeness && !closeness[chunk]) return;
    uint4* const mine = ground + (unsigned long long)chunk * quads;
    const unsigned int stride = gridDim.y * blockDim.x;
    for (unsigned int q = blockIdx.y * blockDim.x + threadIdx.x; q < quads; q += stride) {
        const unsigned int i = 4 * q;
        mine[q] = make_uint4(
            ground_word(i), ground_word(i + 1), ground_word(i + 2), ground_word(i + 3));
    }
}

// Add up the changed words of each chunk among those that are looked at; all of them if `whole`.
extern "C" __global__ void ground_look(
    const uint4* ground, const unsigned int* closeness, unsigned int* counts, unsigned int quads,
    unsigned int whole)
{
    const unsigned int chunk = blockIdx.x, step = closeness[chunk];
    if (!step) return;
    const uint4* const mine = ground + (unsigned long long)chunk * quads;
    const unsigned int stride = gridDim.y * blockDim.x;
    const unsigned int first = blockIdx.y * blockDim.x + threadIdx.x;
    unsigned int damaged = 0;
    if (whole || step == 1) {
        for (unsigned int q = first; q < quads; q += GROUND_AHEAD * stride) {
            uint4 found[GROUND_AHEAD];
#pragma unroll
            for (unsigned int k = 0; k < GROUND_AHEAD; ++k)
                if (q + k * stride < quads) found[k] = mine[q + k * stride];
#pragma unroll
            for (unsigned int k = 0; k < GROUND_AHEAD; ++k)
                if (q + k * stride < quads) damaged += ground_damage(found[k], q + k * stride);
        }
    } else {
        const unsigned int each = GROUND_GROUP / step, sectors = quads / 2;
        const unsigned int groups = (sectors + GROUND_GROUP - 1) / GROUND_GROUP;
        for (unsigned int k = first; k < groups * each; k += stride) {
            // Writes often come at regular distances, which fixed places would miss altogether.
            const unsigned int group = k / each;
            unsigned int x = (chunk * 0x10001u + group) * 0x9e3779b1u;
            x ^= x >> 15;
            x *= 0x735a2d97u;
            const unsigned int place = ((x >> 16) + k % each * step) & (GROUND_GROUP - 1);
            const unsigned int sector = group * GROUND_GROUP + place;
            if (sector >= sectors) continue;
            damaged += ground_damage(mine[2 * sector], 2 * sector)
                + ground_damage(mine[2 * sector + 1], 2 * sector + 1);
        }
    }
    if (damaged) atomicAdd(counts + chunk, damaged);
}
