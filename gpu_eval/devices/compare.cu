// One pass over an output: every statistic of suiteopt/matrix/schema.py against the benchmark's own
// fp32 reference and the fp64 truth, counts of non-finite elements, unwritten elements and a hash.
//
// Two stages with a fixed number of blocks, so that sums do not depend on the order of blocks:
// `compare_partial` writes one Partial a block, `compare_final` folds them in order.

struct Partial {
    double maxima[8];              // in the order of MAXIMA (cuda_compare.py)
    double sums[3];                // ref^2, truth^2, (out - truth)^2, over finite pairs
    unsigned long long counts[7];  // in the order of COUNTERS (cuda_compare.py)
    unsigned long long hash;       // order-free: a sum over elements, modulo 2^64
};

static __device__ __forceinline__ double ratio(double d, double scale)
{
    return d == 0.0 ? 0.0 : d / scale;  // d > 0 over 0 is infinite
}

static __device__ __forceinline__ unsigned long long mix(unsigned long long x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

static __device__ void clear(Partial& p)
{
    for (int i = 0; i < 8; ++i) p.maxima[i] = 0.0;
    for (int i = 0; i < 3; ++i) p.sums[i] = 0.0;
    for (int i = 0; i < 7; ++i) p.counts[i] = 0;
    p.hash = 0;
}

static __device__ void fold(Partial& into, const Partial& from)
{
    for (int i = 0; i < 8; ++i) into.maxima[i] = fmax(into.maxima[i], from.maxima[i]);
    for (int i = 0; i < 3; ++i) into.sums[i] += from.sums[i];
    for (int i = 0; i < 7; ++i) into.counts[i] += from.counts[i];
    into.hash += from.hash;
}

static __device__ void fold_warp(Partial& p)
{
    for (int offset = 16; offset > 0; offset >>= 1) {
        Partial other;
        for (int i = 0; i < 8; ++i)
            other.maxima[i] = __shfl_down_sync(0xffffffffu, p.maxima[i], offset);
        for (int i = 0; i < 3; ++i)
            other.sums[i] = __shfl_down_sync(0xffffffffu, p.sums[i], offset);
        for (int i = 0; i < 7; ++i)
            other.counts[i] = __shfl_down_sync(0xffffffffu, p.counts[i], offset);
        other.hash = __shfl_down_sync(0xffffffffu, p.hash, offset);
        fold(p, other);
    }
}

static __device__ void add_element(
    Partial& p, long long i, float out, float reference, double t, unsigned int poison)
{
    const double o = out, r = reference;
    const unsigned int bits = __float_as_uint(out);
    p.hash += mix((unsigned long long)i * 0x9e3779b97f4a7c15ULL ^ bits);
    p.counts[4] += bits == poison;
    const bool out_nan = isnan(o), ref_nan = isnan(r), out_finite = isfinite(o);
    p.counts[3] += !out_finite;
    if (out_nan && ref_nan) p.counts[0] += 1;
    else if (out_nan || ref_nan) p.counts[1] += 1;
    else if (o != r && (isinf(o) || isinf(r))) p.counts[2] += 1;
    if (!out_finite) return;
    if (isfinite(r)) {
        const double d = fabs(o - r), a = fabs(r), relative = ratio(d, a);
        p.maxima[0] = fmax(p.maxima[0], d / (1.0 + fabs(o)));
        p.maxima[1] = fmax(p.maxima[1], d / (1.0 + a));
        p.maxima[2] = fmax(p.maxima[2], d);
        p.maxima[3] = fmax(p.maxima[3], relative);
        p.maxima[4] = fmax(p.maxima[4], fmin(d, relative));
        p.maxima[5] = fmax(p.maxima[5], a);
        p.sums[0] += r * r;
        p.counts[5] += 1;
    }
    if (isfinite(t)) {
        const double e = fabs(o - t);
        p.maxima[6] = fmax(p.maxima[6], e / (1.0 + fabs(t)));
        p.maxima[7] = fmax(p.maxima[7], e);
        p.sums[1] += t * t;
        p.sums[2] += e * e;
        p.counts[6] += 1;
    }
}

extern "C" __global__ void compare_partial(
    const float* __restrict__ out, const float* __restrict__ reference,
    const double* __restrict__ truth, long long n, unsigned int poison, Partial* partials)
{
    __shared__ Partial shared[8];
    Partial p;
    clear(p);
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        add_element(p, i, out[i], reference[i], truth[i], poison);
    fold_warp(p);
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = p;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < (int)(blockDim.x >> 5); ++w) fold(p, shared[w]);
        partials[blockIdx.x] = p;
    }
}

extern "C" __global__ void compare_final(const Partial* partials, int blocks, Partial* result)
{
    // A thread a field, blocks in their order: the loads of many blocks are under way at once.
    const int field = threadIdx.x;
    if (blockIdx.x != 0) return;
    if (field < 8) {
        double largest = partials[0].maxima[field];
#pragma unroll 32
        for (int b = 1; b < blocks; ++b) largest = fmax(largest, partials[b].maxima[field]);
        result->maxima[field] = largest;
    } else if (field < 11) {
        double sum = partials[0].sums[field - 8];
#pragma unroll 32
        for (int b = 1; b < blocks; ++b) sum += partials[b].sums[field - 8];
        result->sums[field - 8] = sum;
    } else if (field < 18) {
        unsigned long long count = partials[0].counts[field - 11];
#pragma unroll 32
        for (int b = 1; b < blocks; ++b) count += partials[b].counts[field - 11];
        result->counts[field - 11] = count;
    } else if (field == 18) {
        unsigned long long hash = partials[0].hash;
#pragma unroll 32
        for (int b = 1; b < blocks; ++b) hash += partials[b].hash;
        result->hash = hash;
    }
}

struct Zone {
    unsigned long long address;
    unsigned long long words;
    unsigned long long pristine;  // 0: the zone holds `content` throughout
};

// Counts, for each zone (blockIdx.y), the words that no longer hold their stated content: a guard
// zone that was written to, or an input that differs from its pristine copy.
extern "C" __global__ void check_zones(
    const Zone* zones, unsigned int content, unsigned long long* damaged)
{
    const Zone zone = zones[blockIdx.y];
    const unsigned int* words = (const unsigned int*)zone.address;
    const unsigned int* pristine = (const unsigned int*)zone.pristine;
    unsigned long long mine = 0;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool aligned = ((zone.address | zone.pristine) & 15) == 0;
    const unsigned long long quads = aligned ? zone.words / 4 : 0;
    const uint4 same = make_uint4(content, content, content, content);
#pragma unroll 4
    for (unsigned long long i = first; i < quads; i += stride) {
        const uint4 found = ((const uint4*)words)[i];
        const uint4 wanted = pristine ? ((const uint4*)pristine)[i] : same;
        mine += (found.x != wanted.x) + (found.y != wanted.y) + (found.z != wanted.z)
            + (found.w != wanted.w);
    }
    for (unsigned long long i = 4 * quads + first; i < zone.words; i += stride)
        mine += words[i] != (pristine ? pristine[i] : content);
    if (mine) atomicAdd(damaged + blockIdx.y, mine);
}
