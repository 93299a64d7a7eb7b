// Everything that is asked of a run, in one launch over a table of jobs, at the speed of memory:
// for an output every statistic of suiteopt/matrix/schema.py against the benchmark's own
// fp32 reference and the fp64 truth, counts of non-finite and unwritten elements, a hash, and if
// wanted the poison for the next run; for a guard zone or an input the words that were written to.
//
// Maxima are exact: the bits of the largest fp64 quotient, as if every element were divided. A
// division costs dozens of instructions and a block needs few: an element is *tested* first, in
// fp32 and without a division, against limits a hair (2^-20) below the block's maxima so far, and
// only one that may exceed a maximum, or is not finite, is *examined* in fp64.
//
// Why no test misses. Let m be a maximum over quotients d / s, and L = m * 2^24 * (1 - 2^-20) as
// the float that is kept of it. Of an element with d / s > m the test computes D = |out - ref| *
// 2^24 and L * s, each with at most three roundings of 2^-24: L * s < D by the margin. The factor
// 2^24 keeps roundings relative: D > 0 is at least 2^-125, and L is normal, since different floats
// are no closer than 2^-25 of the larger one. D beyond fp32 is not below any limit and is examined.
// Limits that other threads raise meanwhile are maxima of the block all the same: what is tested
// against which one depends on timing, what comes out does not.
//
// Sums have a fixed order: elements of a thread, threads of a block as a tree, blocks as a tree;
// the number of blocks is the table's. The block of a job that ends last folds the partials.

#define THREADS 256
#define WARPS (THREADS / 32)
#define BLOCKS_A_MULTIPROCESSOR 4
#define AHEAD 9  // partials that a lane has under way: 528 blocks in two goes

// Fields of a result, 8 bytes each, in the order of PARTIAL (cuda_compare.py).
#define MAXIMA 8
#define SUMS 3
#define COUNTS 7
#define FIELDS (MAXIMA + SUMS + COUNTS + 1)
#define HASH (FIELDS - 1)
#define RESULT (FIELDS + 1)  // and the number of the launch that it comes from

// Addresses come from a table, so that the compiler cannot tell that they are global memory's.
#ifdef __CUDACC_RTC__
#define LOAD(pointer) __ldcg(pointer)
#define STORE(pointer, value) __stcg(pointer, value)
#else  // the host device
#define LOAD(pointer) (*(pointer))
#define STORE(pointer, value) (*(pointer) = (value))
#endif

enum { CANDIDATE, REFERENCE, ABSOLUTE, RELATIVE, EITHER, PEAK, TRUTH_RATIO, TRUTH_ABSOLUTE };
enum { REFERENCE_SQUARES, TRUTH_SQUARES, ERROR_SQUARES };
enum { NAN_BOTH, NAN_ONE, INF_MISMATCH, NONFINITE, MATCHES, OWN_PAIRS, TRUTH_PAIRS };

struct Job {
    unsigned long long out;        // address: of an output, or of a zone of words
    unsigned long long reference;  // of the fp32 reference, or of what the zone held (0: `word`)
    unsigned long long truth;      // of the fp64 truth; 0: this is a zone
    long long n;
    unsigned int word;    // what an unwritten element holds, or each word of the zone
    unsigned int refill;  // not 0: leave `word` in every element of the output
    unsigned int blocks;  // how many blocks share the job
    unsigned int first;   // blocks of the jobs before it
};

struct Shared {
    double rows[MAXIMA + SUMS + 1][THREADS];  // of each thread: maxima, sums, hash
    unsigned int limits[MAXIMA];              // see `raise`
    unsigned int counts[COUNTS];              // pairs: those that are *not* finite
    unsigned int last;
};

struct Sums {
    double values[SUMS];
    float peak;
};

static __device__ __forceinline__ bool finite(double v) { return v - v == 0.0; }

// Take a value into a thread's maximum and publish the limit that it sets to the block's tests.
static __device__ __forceinline__ void raise(Shared& s, int field, double& maximum, double value)
{
    if (!(value > maximum)) return;
    maximum = value;
    const double scaled = value * (0x1p24 * (1.0 - 0x1p-20));
    const float limit = (float)(scaled < 0x1.fffffep127 ? scaled : 0x1.fffffep127);
    atomicMax(&s.limits[field], __float_as_uint(limit));
}

// The same for the truth's tests, which are in fp64: their limit is the upper half of a double.
static __device__ __forceinline__ void raise_truth(
    Shared& s, int field, double& maximum, double value)
{
    if (!(value > maximum)) return;
    maximum = value;
    const unsigned int high = (unsigned int)((unsigned long long)__double_as_longlong(value) >> 32);
    atomicMax(&s.limits[field], high ? high - 1 : 0);
}

static __device__ __forceinline__ double upper_half(unsigned int high)
{
    return __longlong_as_double((long long)((unsigned long long)high << 32));
}

// Whether d / scale may exceed a maximum: without the division, and never wrongly "no".
static __device__ __forceinline__ bool exceeds(double d, double scale, double maximum)
{
    return fma(-maximum, scale, d) > 0.0;
}

// The same of a maximum of this thread's and, first, of what all of the block has by now: divisions
// are for few elements even while a block is new and has no limits to test against.
static __device__ __forceinline__ bool exceeds(
    const Shared& s, int field, double d, double scale, double maximum)
{
    const unsigned int limit = *(const volatile unsigned int*)&s.limits[field];
    return exceeds(d, scale, (double)__uint_as_float(limit) * 0x1p-24)
        && exceeds(d, scale, maximum);
}

// Whether an element needs `examine`: it may exceed a maximum, or is not finite somewhere.
static __device__ __forceinline__ bool tested(
    float out, float reference, double t, uint4 own, uint4 other)
{
    const float candidate = __uint_as_float(own.x), by_reference = __uint_as_float(own.y);
    const float absolute = __uint_as_float(own.z), relative = __uint_as_float(own.w);
    const float either = __uint_as_float(other.x);
    const float d = fabsf(out - reference) * 0x1p24f, a = fabsf(reference);
    bool odd = !(d <= absolute);  // also where d is NaN or infinite
    odd |= d > fmaf(candidate, fabsf(out), candidate);
    odd |= d > fmaf(by_reference, a, by_reference);
    odd |= d > relative * a;
    odd |= d > either * fmaxf(a, 1.0f);
    const double e = fabs((double)out - t), ratio = upper_half(other.z);
    odd |= !(e <= upper_half(other.w));
    odd |= e > fma(ratio, fabs(t), ratio);
    return odd;
}

static __device__ __forceinline__ void add(Sums& sums, float out, float reference, double t)
{
    const double r = reference, e = (double)out - t;
    sums.values[REFERENCE_SQUARES] = fma(r, r, sums.values[REFERENCE_SQUARES]);
    sums.values[TRUTH_SQUARES] = fma(t, t, sums.values[TRUTH_SQUARES]);
    sums.values[ERROR_SQUARES] = fma(e, e, sums.values[ERROR_SQUARES]);
    sums.peak = fmaxf(sums.peak, fabsf(reference));
}

// Everything about one element, in fp64.
static __device__ __forceinline__ void examine(
    Shared& s, Sums& sums, float out, float reference, double t, unsigned int word)
{
    const double o = out, r = reference;
    const bool out_finite = finite(o), own = out_finite && finite(r);
    const bool out_nan = o != o, ref_nan = r != r;
    if (__float_as_uint(out) == word) atomicAdd(&s.counts[MATCHES], 1u);
    if (!out_finite) atomicAdd(&s.counts[NONFINITE], 1u);
    if (out_nan && ref_nan) atomicAdd(&s.counts[NAN_BOTH], 1u);
    else if (out_nan || ref_nan) atomicAdd(&s.counts[NAN_ONE], 1u);
    else if (o != r && !own) atomicAdd(&s.counts[INF_MISMATCH], 1u);
    double* const maximum = &s.rows[0][threadIdx.x];
    if (own) {
        const double d = fabs(o - r), a = fabs(r);
        const double by_out = 1.0 + fabs(o), by_reference = 1.0 + a;
        if (exceeds(s, CANDIDATE, d, by_out, maximum[CANDIDATE * THREADS]))
            raise(s, CANDIDATE, maximum[CANDIDATE * THREADS], d / by_out);
        if (exceeds(s, REFERENCE, d, by_reference, maximum[REFERENCE * THREADS]))
            raise(s, REFERENCE, maximum[REFERENCE * THREADS], d / by_reference);
        raise(s, ABSOLUTE, maximum[ABSOLUTE * THREADS], d);
        const bool larger = exceeds(s, RELATIVE, d, a, maximum[RELATIVE * THREADS]);
        const bool both = d > maximum[EITHER * THREADS]
            && exceeds(s, EITHER, d, a, maximum[EITHER * THREADS]);
        if (larger || both) {
            const double quotient = d / a;  // d > 0, infinite over 0
            raise(s, RELATIVE, maximum[RELATIVE * THREADS], quotient);
            raise(s, EITHER, maximum[EITHER * THREADS], quotient < d ? quotient : d);
        }
        sums.values[REFERENCE_SQUARES] = fma(r, r, sums.values[REFERENCE_SQUARES]);
        sums.peak = fmaxf(sums.peak, fabsf(reference));
    } else {
        atomicAdd(&s.counts[OWN_PAIRS], 1u);
    }
    if (out_finite && finite(t)) {
        const double e = fabs(o - t), scale = 1.0 + fabs(t);
        if (e > upper_half(*(const volatile unsigned int*)&s.limits[TRUTH_RATIO]) * scale
            && exceeds(e, scale, maximum[TRUTH_RATIO * THREADS]))
            raise_truth(s, TRUTH_RATIO, maximum[TRUTH_RATIO * THREADS], e / scale);
        raise_truth(s, TRUTH_ABSOLUTE, maximum[TRUTH_ABSOLUTE * THREADS], e);
        sums.values[TRUTH_SQUARES] = fma(t, t, sums.values[TRUTH_SQUARES]);
        sums.values[ERROR_SQUARES] = fma(e, e, sums.values[ERROR_SQUARES]);
    } else {
        atomicAdd(&s.counts[TRUTH_PAIRS], 1u);
    }
}

#define STEP 0x9e3779b1u

static __device__ __forceinline__ unsigned int place(long long i)
{
    return (unsigned int)i * STEP + (unsigned int)(i >> 32) * 0x85ebca77u;
}

// A share of the hash: the square (no two words have the same) of the word, mixed with its place.
static __device__ __forceinline__ unsigned long long share(float value, unsigned int key)
{
    unsigned int x = __float_as_uint(value) + key;
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0x735a2d97u;
    return (unsigned long long)x * x;
}

// The elements of an output that fall to this thread: four at a time, then what is left over.
static __device__ __forceinline__ unsigned long long compare_output(
    const Job& job, unsigned int block, Shared& s, Sums& sums)
{
    float* const out = (float*)job.out;
    const float* const reference = (const float*)job.reference;
    const double* const truth = (const double*)job.truth;
    const bool aligned = ((job.out | job.reference | job.truth) & 15) == 0;
    const float poison = __uint_as_float(job.word);
    const long long quads = job.n / 4, stride = (long long)job.blocks * THREADS;
    const long long first = (long long)block * THREADS + threadIdx.x;
    unsigned long long hash = 0;
    for (long long q = first; q < quads; q += stride) {
        float4 o, r;
        double2 t, u;
        const long long i = 4 * q;
        if (aligned) {
            o = LOAD((const float4*)out + q);
            r = __ldg((const float4*)reference + q);
            t = __ldg((const double2*)truth + 2 * q);
            u = __ldg((const double2*)truth + 2 * q + 1);
        } else {
            const float* const of = out + i;
            const float* const rf = reference + i;
            const double* const tf = truth + i;
            o = make_float4(LOAD(of), LOAD(of + 1), LOAD(of + 2), LOAD(of + 3));
            r = make_float4(__ldg(rf), __ldg(rf + 1), __ldg(rf + 2), __ldg(rf + 3));
            t = make_double2(__ldg(tf), __ldg(tf + 1));
            u = make_double2(__ldg(tf + 2), __ldg(tf + 3));
        }
        const unsigned int key = place(i);
        hash += share(o.x, key) + share(o.y, key + STEP) + share(o.z, key + 2 * STEP)
            + share(o.w, key + 3 * STEP);
        // Other threads raise the limits meanwhile: an old one is as good.
        const volatile unsigned int* const limits = s.limits;
        const uint4 own
            = make_uint4(limits[CANDIDATE], limits[REFERENCE], limits[ABSOLUTE], limits[RELATIVE]);
        const uint4 other
            = make_uint4(limits[EITHER], 0u, limits[TRUTH_RATIO], limits[TRUTH_ABSOLUTE]);
        const unsigned int odd = tested(o.x, r.x, t.x, own, other)
            | tested(o.y, r.y, t.y, own, other) << 1 | tested(o.z, r.z, u.x, own, other) << 2
            | tested(o.w, r.w, u.y, own, other) << 3;
        if (odd) {
            // Loaded once more, from a cache: registers cannot be indexed.
#pragma unroll 1
            for (int k = 0; k < 4; ++k) {
                const float one = LOAD(out + i + k), wanted = __ldg(reference + i + k);
                const double exact = __ldg(truth + i + k);
                if (odd >> k & 1) examine(s, sums, one, wanted, exact, job.word);
                else add(sums, one, wanted, exact);
            }
        } else {
            add(sums, o.x, r.x, t.x);
            add(sums, o.y, r.y, t.y);
            add(sums, o.z, r.z, u.x);
            add(sums, o.w, r.w, u.y);
        }
        if (job.refill) {
            if (aligned) {
                STORE((float4*)out + q, make_float4(poison, poison, poison, poison));
            } else {
#pragma unroll 1
                for (int k = 0; k < 4; ++k) STORE(out + i + k, poison);
            }
        }
    }
    const long long rest = 4 * quads + first;
    if (rest < job.n) {
        const float o = LOAD(out + rest);
        hash += share(o, place(rest));
        examine(s, sums, o, __ldg(reference + rest), __ldg(truth + rest), job.word);
        if (job.refill) STORE(out + rest, poison);
    }
    return hash;
}

// How many of the words of a zone that fall to this thread no longer hold what they should.
static __device__ __forceinline__ unsigned int check_zone(const Job& job, unsigned int block)
{
    const unsigned int* const words = (const unsigned int*)job.out;
    const unsigned int* const pristine = (const unsigned int*)job.reference;
    const unsigned int same = job.word;
    const long long quads = ((job.out | job.reference) & 15) == 0 ? job.n / 4 : 0;
    const long long stride = (long long)job.blocks * THREADS;
    const long long first = (long long)block * THREADS + threadIdx.x;
    unsigned int damaged = 0;
#pragma unroll 4
    for (long long q = first; q < quads; q += stride) {
        const uint4 found = LOAD((const uint4*)words + q);
        const uint4 wanted
            = pristine ? __ldg((const uint4*)pristine + q) : make_uint4(same, same, same, same);
        damaged += (found.x != wanted.x) + (found.y != wanted.y) + (found.z != wanted.z)
            + (found.w != wanted.w);
    }
    for (long long i = 4 * quads + first; i < job.n; i += stride)
        damaged += LOAD(words + i) != (pristine ? __ldg(pristine + i) : same);
    return damaged;
}

static __device__ __forceinline__ double combine(int field, double left, double right)
{
    if (field < MAXIMA) return left > right ? left : right;
    if (field < MAXIMA + SUMS) return left + right;
    return __longlong_as_double(__double_as_longlong(left) + __double_as_longlong(right));
}

// Fold one field of a warp's lanes into lane 0, always in the same order.
static __device__ __forceinline__ double fold_warp(int field, double value)
{
    for (int offset = 16; offset > 0; offset >>= 1)
        value = combine(field, value, __shfl_down_sync(0xffffffffu, value, offset));
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_A_MULTIPROCESSOR) compare(
    const Job* jobs, const int* owners, double* partials, unsigned int* ended, double* results,
    long long launch)
{
    __shared__ Shared s;
    const int owner = owners[blockIdx.x];  // the job that this block works for
    const Job job = jobs[owner];
    const unsigned int block = blockIdx.x - job.first;
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    for (int row = 0; row < MAXIMA; ++row) s.rows[row][thread] = 0.0;
    if (thread < MAXIMA) s.limits[thread] = 0;
    if (thread < COUNTS) s.counts[thread] = 0;
    __syncthreads();

    Sums sums = {{0.0, 0.0, 0.0}, 0.0f};
    unsigned long long hash = 0;
    if (job.truth) {
        hash = compare_output(job, block, s, sums);
    } else if (const unsigned int damaged = check_zone(job, block)) {
        atomicAdd(&s.counts[MATCHES], damaged);
    }
    s.rows[PEAK][thread] = sums.peak;
    for (int k = 0; k < SUMS; ++k) s.rows[MAXIMA + k][thread] = sums.values[k];
    s.rows[MAXIMA + SUMS][thread] = __longlong_as_double((long long)hash);
    __syncthreads();

    // A warp a row. Partials lie field by field, so that the last block reads them in one sweep.
    double* const mine = partials + (long long)job.first * FIELDS;
    for (int row = warp; row <= MAXIMA + SUMS; row += WARPS) {
        const int field = row < MAXIMA + SUMS ? row : HASH;
        double value = s.rows[row][lane];
        for (int w = 1; w < WARPS; ++w)
            value = combine(field, value, s.rows[row][w * 32 + lane]);
        value = fold_warp(field, value);
        if (lane == 0) mine[(long long)field * job.blocks + block] = value;
    }
    if (thread < COUNTS)
        mine[(long long)(MAXIMA + SUMS + thread) * job.blocks + block]
            = __longlong_as_double((long long)s.counts[thread]);
    __threadfence();
    __syncthreads();
    if (thread == 0) s.last = atomicAdd(&ended[owner], 1u) == job.blocks - 1;
    __syncthreads();
    if (!s.last) return;
    __threadfence();
    for (int field = warp; field < FIELDS; field += WARPS) {
        const double* const parts = mine + (long long)field * job.blocks;
        double value = 0.0;  // of a maximum, a sum and a count alike
        for (unsigned int b = lane; b < job.blocks; b += 32 * AHEAD) {
            double next[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; ++k)
                next[k] = b + 32 * k < job.blocks ? LOAD(parts + b + 32 * k) : 0.0;
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) value = combine(field, value, next[k]);
        }
        value = fold_warp(field, value);
        if (field == MAXIMA + SUMS + OWN_PAIRS || field == MAXIMA + SUMS + TRUTH_PAIRS)
            value = __longlong_as_double(job.n - __double_as_longlong(value));
        if (lane == 0) results[(long long)owner * RESULT + field] = value;
    }
    if (thread == 0) {
        results[(long long)owner * RESULT + FIELDS] = __longlong_as_double(launch);
        ended[owner] = 0;  // for the next launch
    }
}
