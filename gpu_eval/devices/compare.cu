// Everything that is asked of a run, in one launch over a table of jobs, at the speed of memory:
// for an output every statistic of suiteopt/matrix/schema.py against the benchmark's own
// fp32 reference and the fp64 truth, counts of non-finite and unwritten elements, a hash, and if
// wanted the poison for the next run; for a guard zone or an input the words that were written to.
//
// Maxima are exact: the bits of the largest fp64 quotient, as if every element were divided. A
// division costs dozens of instructions and an output needs few, so elements pass three sieves:
// 1. *tested*: in fp32 and without a division, against limits a hair (2^-20) below quotients of
//    elements of the job, its own block's or another's. Most elements end here.
// 2. *sifted*: in fp64, still without a division, against the block's maxima to the last bit. What
//    equals a maximum ends here, such as all of an output whose relative error is constant.
// 3. *divided*: what may raise a maximum of its block.
//
// Where limits come from. A block begins with those that others have published and with fast fp32
// quotients of its own first elements, less 2^-18: more than such a quotient is off. Each maximum
// that rises sets a limit in the block and in the job's `Common`, where a warp of each block looks
// once in a while. The last block of a job leaves zeros there for the next launch.
//
// Why no test misses. Let M be the job's largest quotient d / s of one kind. Every limit is some
// L <= m * 2^24 * (1 - 2^-20), rounded to a float, where m <= M is a quotient of the job. Of an
// element with d / s = M > 0 the test computes D = |out - ref| * 2^24 and L * s, each with at most
// three roundings of 2^-24: L * s < D by the margin, whichever limit it meets. The factor 2^24
// keeps roundings relative: D > 0 is at least 2^-125, and L is normal or 0, since different floats
// are no closer than 2^-25 of the larger one. D beyond fp32 is not below any limit and goes on.
// Then the element meets the block's maximum, a quotient that was divided or, at first, what the
// block's first limits stand for, L / 2^24 < M: either it is M already, or the element exceeds it,
// is divided, and becomes the block's maximum. A block that holds no M may end with less than its
// own largest quotient, or with the 0 that stands for none; the fold over the blocks is M all the
// same. What is tested against which limit depends on timing, what comes out does not.
//
// A limit above its maximum would hide elements, and only a stray write makes one: the last block
// compares the two, and where a limit is too high the record keeps no launch number to be believed.
//
// Sums have a fixed order, and elements that go on to a further sieve keep their place in it:
// elements of a thread, threads of a block as a tree, blocks as a tree; the number of blocks is the
// table's. The block of a job that ends last folds the partials.

#define THREADS 256
#define WARPS (THREADS / 32)
#define BLOCKS_A_MULTIPROCESSOR 4
#define AHEAD 17  // partials that a lane has under way: 528 blocks in one go

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
// Copies from global to shared memory that a thread does not wait for until it says so.
#define COPY16(to, from)                                                                   \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(                        \
                     (unsigned int)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COPY(to, from, bytes)                                                              \
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(                        \
                     (unsigned int)__cvta_generic_to_shared(to)), "l"(from), "n"(bytes) : "memory")
// A value that the compiler computes what hangs on it anew, rather than keep that in registers.
#define ANEW(value) asm volatile("" : "+r"(value))
#define AWAIT() asm volatile("cp.async.wait_all;" ::: "memory")
#else  // the host device
// A thread's copies arrive when it awaits them, and until then something else lies there: tests see
// who reads too soon.
struct Copy {
    void* to;
    unsigned long long from;
    unsigned int bytes;
};
static Copy under_way[THREADS][12];
static unsigned int copies[THREADS];

static void begin_copy(void* to, unsigned long long from, unsigned int bytes)
{
    const unsigned int k = copies[threadIdx.x]++;
    under_way[threadIdx.x][k] = {to, from, bytes};
    memset(to, 0x5e - 4 * (int)k, bytes);
}

static void await_copies()
{
    for (unsigned int k = 0; k < copies[threadIdx.x]; ++k) {
        const Copy& copy = under_way[threadIdx.x][k];
        memcpy(copy.to, (const void*)copy.from, copy.bytes);
    }
    copies[threadIdx.x] = 0;
}

#define COPY(to, from, bytes) begin_copy(to, from, bytes)
#define COPY16(to, from) COPY(to, from, 16)
#define ANEW(value)
#define AWAIT() await_copies()
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

// What blocks of a job tell each other; zeros between launches.
struct Common {
    unsigned int limits[MAXIMA];  // 32 bytes: one sector
    unsigned int ended;           // blocks that have left their partials
    unsigned int counted;         // not 0: some block has counted something
    unsigned int spare[6];
};

// What 32 lanes have under way, one quad each: their quads' outputs, references and truths.
struct Stage {
    float4 out[32], reference[32], truth[64];
};

#define ROWS (SUMS + 1)
union Warp {
    Stage stage;
    double rows[ROWS][32];  // in the end, of each lane: sums, hash
};

struct Shared {
    Warp warps[WARPS];
    Job job;
    Common* common;
    double* result;
    unsigned int aligned;               // whether 16 bytes at a time can be read
    unsigned long long maxima[MAXIMA];  // bits of doubles that are not negative: ordered as these
    unsigned long long floors[MAXIMA];  // what they begin with, see `floor_of`
    unsigned int limits[MAXIMA];        // see `limit_of`
    unsigned int counts[COUNTS];        // pairs: those that are *not* finite
    unsigned int peak;                  // bits of a float
    unsigned int last, stray, counted;
};

struct Sums {
    double values[SUMS];
    float peak;
};

// Four elements of an output, and what they should be.
struct Quad {
    float4 out, reference;
    double2 low, high;
};

static __device__ __forceinline__ bool finite(float v) { return fabsf(v) <= 0x1.fffffep127f; }
static __device__ __forceinline__ bool finite(double v) { return v - v == 0.0; }

static __device__ __forceinline__ unsigned int upper_bits(double v)
{
    return (unsigned int)((unsigned long long)__double_as_longlong(v) >> 32);
}

static __device__ __forceinline__ double upper_half(unsigned int high)
{
    return __longlong_as_double((long long)((unsigned long long)high << 32));
}

// What a quotient lets the tests of other elements ask for. A limit is the bits of a float; the
// truth's tests are in fp64, and their limit is the upper half of a double.
static __device__ __forceinline__ unsigned int limit_of(int field, double quotient)
{
    if (field == TRUTH_RATIO || field == TRUTH_ABSOLUTE) {
        const unsigned int high = upper_bits(quotient);
        return high ? high - 1 : 0;
    }
    const double scaled = quotient * (0x1p24 * (1.0 - 0x1p-20));
    return __float_as_uint((float)(scaled < 0x1.fffffep127 ? scaled : 0x1.fffffep127));
}

// What a maximum that has this limit exceeds for certain, as bits of a double.
static __device__ __forceinline__ unsigned long long floor_of(int field, unsigned int limit)
{
    if (field == TRUTH_RATIO || field == TRUTH_ABSOLUTE) return (unsigned long long)limit << 32;
    return (unsigned long long)__double_as_longlong((double)__uint_as_float(limit) * 0x1p-24);
}

// Take a quotient into the block's maximum; if it sets a higher limit, tell the block and the job.
static __device__ __forceinline__ void raise(Shared& s, int field, double quotient)
{
    const unsigned long long bits = (unsigned long long)__double_as_longlong(quotient);
    if (bits <= *(const volatile unsigned long long*)&s.maxima[field]) return;
    atomicMax(&s.maxima[field], bits);
    const unsigned int limit = limit_of(field, quotient);
    if (limit <= *(const volatile unsigned int*)&s.limits[field]) return;
    atomicMax(&s.limits[field], limit);
    atomicMax(&s.common->limits[field], limit);
}

// Whether d / scale exceeds a maximum: without the division, and never wrongly "no".
static __device__ __forceinline__ bool exceeds(double d, double scale, double maximum)
{
    return fma(-maximum, scale, d) > 0.0;
}

static __device__ __forceinline__ double maximum_of(const Shared& s, int field)
{
    return __longlong_as_double((long long)*(const volatile unsigned long long*)&s.maxima[field]);
}

// The first sieve: whether an element may exceed a maximum, or is not finite.
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

// What is not finite, counted: four bits a counter, for four elements.
#define ONE(counter) (1u << 4 * (counter))
static __device__ __forceinline__ unsigned int counted(
    float out, float reference, bool own, bool real, unsigned int word)
{
    const bool out_nan = out != out, reference_nan = reference != reference;
    unsigned int counts = out_nan && reference_nan ? ONE(NAN_BOTH)
        : out_nan || reference_nan                 ? ONE(NAN_ONE)
        : own || out == reference                  ? 0
                                                   : ONE(INF_MISMATCH);
    if (__float_as_uint(out) == word) counts += ONE(MATCHES);
    if (!finite(out)) counts += ONE(NONFINITE);
    if (!own) counts += ONE(OWN_PAIRS);
    if (!real) counts += ONE(TRUTH_PAIRS);
    return counts;
}

// The second sieve: of one element, a bit for each maximum of the block that it exceeds.
static __device__ __forceinline__ unsigned int exceeded(
    const Shared& s, float out, float reference, double t, bool own, bool real)
{
    unsigned int over = 0;
    if (own) {
        const double o = out, r = reference, d = fabs(o - r), a = fabs(r);
        over |= exceeds(d, 1.0 + fabs(o), maximum_of(s, CANDIDATE)) << CANDIDATE;
        over |= exceeds(d, 1.0 + a, maximum_of(s, REFERENCE)) << REFERENCE;
        over |= (d > maximum_of(s, ABSOLUTE)) << ABSOLUTE;
        over |= exceeds(d, a, maximum_of(s, RELATIVE)) << RELATIVE;
        const double larger = fmaxf(fabsf(reference), 1.0f);
        over |= exceeds(d, larger, maximum_of(s, EITHER)) << EITHER;
    }
    if (real) {
        const double e = fabs((double)out - t);
        over |= exceeds(e, 1.0 + fabs(t), maximum_of(s, TRUTH_RATIO)) << TRUTH_RATIO;
        over |= (e > maximum_of(s, TRUTH_ABSOLUTE)) << TRUTH_ABSOLUTE;
    }
    return over;
}

// The quotient that a maximum is of; infinite where it exceeds a maximum over 0.
static __device__ __forceinline__ double divided(int field, float out, float reference, double t)
{
    const double o = out, r = reference, a = fabs(r);
    const bool real = field == TRUTH_RATIO || field == TRUTH_ABSOLUTE;
    const double scale = field == CANDIDATE ? 1.0 + fabs(o)
        : field == REFERENCE                ? 1.0 + a
        : field == RELATIVE                 ? a
        : field == EITHER                   ? (a > 1.0 ? a : 1.0)  // so: d / a, or d if less
        : field == TRUTH_RATIO              ? 1.0 + fabs(t)
                                            : 1.0;
    return fabs(o - (real ? t : r)) / scale;
}

// The second sieve for an odd element of four: 8 bits of `over`, two of `bad` (its pair with the
// reference is not finite, its pair with the truth).
static __device__ __forceinline__ void sift(const Shared& s, float out, float reference, double t,
    int k, unsigned int& over, unsigned int& bad)
{
    const bool own = finite(out) && finite(reference), real = finite(out) && finite(t);
    over |= exceeded(s, out, reference, t, own, real) << 8 * k;
    bad |= (!own | !real << 1) << 2 * k;
}

// Count what is not finite; zeros in its place add nothing to the sums.
static __device__ __forceinline__ void drop(const Shared& s, float& out, float& reference,
    double& t, unsigned int bad, unsigned int& counts)
{
    const bool own = !(bad & 1), real = !(bad & 2);
    if (own && real) return;
    counts += counted(out, reference, own, real, s.job.word);
    if (!own) reference = 0.0f;
    if (!real) out = 0.0f, t = 0.0;
}

// The elements of four that are odd.
static __device__ __forceinline__ void examine(Shared& s, Quad& q, unsigned int odd)
{
    unsigned int over = 0, bad = 0;
    if (odd & 1) sift(s, q.out.x, q.reference.x, q.low.x, 0, over, bad);
    if (odd & 2) sift(s, q.out.y, q.reference.y, q.low.y, 1, over, bad);
    if (odd & 4) sift(s, q.out.z, q.reference.z, q.high.x, 2, over, bad);
    if (odd & 8) sift(s, q.out.w, q.reference.w, q.high.y, 3, over, bad);
#pragma unroll 1
    for (; over; over &= over - 1) {
        const int at = __ffs((int)over) - 1, k = at >> 3, field = at & 7;
        const bool x = k == 0, y = k == 1, z = k == 2;  // registers cannot be indexed
        const float out = x ? q.out.x : y ? q.out.y : z ? q.out.z : q.out.w;
        const float reference
            = x ? q.reference.x : y ? q.reference.y : z ? q.reference.z : q.reference.w;
        const double t = x ? q.low.x : y ? q.low.y : z ? q.high.x : q.high.y;
        raise(s, field, divided(field, out, reference, t));
    }
    if (!bad) return;
    unsigned int counts = 0;
    drop(s, q.out.x, q.reference.x, q.low.x, bad, counts);
    drop(s, q.out.y, q.reference.y, q.low.y, bad >> 2, counts);
    drop(s, q.out.z, q.reference.z, q.high.x, bad >> 4, counts);
    drop(s, q.out.w, q.reference.w, q.high.y, bad >> 6, counts);
#pragma unroll
    for (int k = 0; k < COUNTS; ++k) {
        const unsigned int found = counts >> 4 * k & 15;
        if (found) atomicAdd(&s.counts[k], found);
    }
}

// Fast quotients of a thread's first elements, none above the true one by more than 2^-20 of it:
// three roundings of 2^-24 before a division that is off by 2^-22 at most, or has 0 for a result.
struct Guess {
    float by_larger, absolute, relative, either, truth_ratio;
    double truth_absolute;
};

static __device__ __forceinline__ void guess(Guess& g, float out, float reference, double t)
{
    float d = fabsf(out - reference) * 0x1p24f;
    if (!finite(d)) d = 0.0f;  // infinite over more than 1 would be too much
    const float a = fabsf(reference);
    // The larger of two divisors does for both quotients: a limit may be too low.
    g.by_larger = fmaxf(g.by_larger, __fdividef(d, 1.0f + fmaxf(fabsf(out), a)));
    g.absolute = fmaxf(g.absolute, d);
    // A divisor that is close to 0 would have no reciprocal.
    const float relative = __fdividef(d, fmaxf(a, 0x1p-60f));
    g.relative = fmaxf(g.relative, relative);
    g.either = fmaxf(g.either, fminf(d, relative));
    double e = fabs((double)out - t);
    if (!finite(e)) e = 0.0;
    if (e > g.truth_absolute) g.truth_absolute = e;
    if (e < 0x1p100 && fabs(t) < 0x1p100)
        g.truth_ratio = fmaxf(g.truth_ratio, __fdividef((float)e, 1.0f + fabsf((float)t)));
}

// A limit from a fast quotient. One that is close to fp32's least has few bits, and is dropped.
static __device__ __forceinline__ float sure(float quotient)
{
    return quotient < 0x1p-100f ? 0.0f : fminf(quotient, 0x1.fffffep127f) * (1.0f - 0x1p-18f);
}

// The largest of the values that the lanes of a warp have, in all of them.
static __device__ __forceinline__ unsigned int largest(unsigned int value)
{
#ifdef __CUDACC_RTC__
    return __reduce_max_sync(0xffffffffu, value);
#else
    for (int offset = 16; offset > 0; offset >>= 1)
        value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
#endif
}

// Give a block its first limits; all its threads come here.
static __device__ __forceinline__ void begin_limits(Shared& s, const Quad& q, bool any)
{
    const int lane = threadIdx.x & 31;
    Guess g = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0};
    if (any) {
        guess(g, q.out.x, q.reference.x, q.low.x);
        guess(g, q.out.y, q.reference.y, q.low.y);
        guess(g, q.out.z, q.reference.z, q.high.x);
        guess(g, q.out.w, q.reference.w, q.high.y);
    }
    const unsigned int by_larger = largest(__float_as_uint(sure(g.by_larger)));
    const unsigned int absolute = largest(__float_as_uint(sure(g.absolute)));
    const unsigned int relative = largest(__float_as_uint(sure(g.relative)));
    const unsigned int either = largest(__float_as_uint(sure(g.either)));
    const unsigned int truth_ratio = largest(upper_bits((double)sure(g.truth_ratio)));
    const unsigned int truth_absolute = largest(limit_of(TRUTH_ABSOLUTE, g.truth_absolute));
    const unsigned int mine = lane == CANDIDATE || lane == REFERENCE ? by_larger
        : lane == ABSOLUTE                                           ? absolute
        : lane == RELATIVE                                           ? relative
        : lane == EITHER                                             ? either
        : lane == TRUTH_RATIO                                        ? truth_ratio
        : lane == TRUTH_ABSOLUTE                                     ? truth_absolute
                                                                     : 0;
    if (lane < MAXIMA && mine) atomicMax(&s.limits[lane], mine);
    __syncthreads();
    if (threadIdx.x >= MAXIMA) return;
    const unsigned int limit = *(const volatile unsigned int*)&s.limits[threadIdx.x];
    atomicMax(&s.common->limits[threadIdx.x], limit);
    s.floors[threadIdx.x] = floor_of(threadIdx.x, limit);
    atomicMax(&s.maxima[threadIdx.x], s.floors[threadIdx.x]);
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

static __device__ __forceinline__ bool aligned(const Shared& s)
{
    return *(const volatile unsigned int*)&s.aligned;
}

// The block's number among those of its job. Looked up anew by whoever needs it, as is the stride:
// that costs less than a register.
static __device__ __forceinline__ unsigned int number(const Shared& s)
{
    return blockIdx.x - *(const volatile unsigned int*)&s.job.first;
}

static __device__ __forceinline__ unsigned int stride(const Shared& s)
{
    return *(const volatile unsigned int*)&s.job.blocks * THREADS;
}

// Where 16 bytes of truth lie, so that lanes find all banks of shared memory both when they copy
// neighbours and when each takes its own two.
static __device__ __forceinline__ unsigned int bank(unsigned int chunk)
{
    return chunk ^ (chunk >> 3 & 1);
}

// Have a warp's quads from the one numbered `base` on copied: lanes take neighbouring 16 bytes, or
// words of their own quad where addresses do not allow that or the warp is not full.
static __device__ __forceinline__ void send(
    const Shared& s, Stage& stage, unsigned int base, unsigned int quads)
{
    const Job& job = s.job;
    const unsigned int lane = threadIdx.x & 31, q = base + lane;
    if (base < quads && quads - base >= 32 && aligned(s)) {
        const unsigned long long truth = job.truth + 32ull * base + 16 * lane;
        COPY16(&stage.out[lane], job.out + 16ull * q);
        COPY16(&stage.reference[lane], job.reference + 16ull * q);
        COPY16(&stage.truth[bank(lane)], truth);
        COPY16(&stage.truth[bank(lane) + 32], truth + 512);
    } else if (q < quads) {
#pragma unroll 1
        for (unsigned int k = 0; k < 4; ++k) {
            COPY((float*)&stage.out[lane] + k, job.out + 16ull * q + 4 * k, 4);
            COPY((float*)&stage.reference[lane] + k, job.reference + 16ull * q + 4 * k, 4);
            COPY((double*)&stage.truth[bank(2 * lane + (k >> 1))] + (k & 1),
                job.truth + 32ull * q + 8 * k, 8);
        }
    }
}

// The quad of a lane from a stage that has come.
static __device__ __forceinline__ Quad receive(const Stage& stage)
{
    unsigned int lane = threadIdx.x & 31;
    ANEW(lane);
    Quad quad;
    quad.out = stage.out[lane];
    quad.reference = stage.reference[lane];
    quad.low = *(const double2*)&stage.truth[bank(2 * lane)];
    quad.high = *(const double2*)&stage.truth[bank(2 * lane + 1)];
    return quad;
}

// Everything that is asked of a quad; returns its share of the hash.
static __device__ __forceinline__ unsigned long long compare_quad(
    Shared& s, Quad& quad, unsigned int q, Sums& sums)
{
    const Job& job = s.job;
    // First of all, so that memory is written while the quad is judged.
    if (job.refill) {
        float* const out = (float*)job.out + 4ull * q;
        const float poison = __uint_as_float(job.word);
        if (aligned(s)) {
            STORE((float4*)out, make_float4(poison, poison, poison, poison));
        } else {
#pragma unroll 1
            for (int k = 0; k < 4; ++k) STORE(out + k, poison);
        }
    }
    const unsigned int key = place(4ull * q);
    const unsigned long long hash = share(quad.out.x, key) + share(quad.out.y, key + STEP)
        + share(quad.out.z, key + 2 * STEP) + share(quad.out.w, key + 3 * STEP);
    // Other threads raise the limits meanwhile: an old one is as good.
    const volatile unsigned int* const limits = s.limits;
    const uint4 own
        = make_uint4(limits[CANDIDATE], limits[REFERENCE], limits[ABSOLUTE], limits[RELATIVE]);
    const uint4 other = make_uint4(limits[EITHER], 0u, limits[TRUTH_RATIO], limits[TRUTH_ABSOLUTE]);
    const unsigned int odd = tested(quad.out.x, quad.reference.x, quad.low.x, own, other)
        | tested(quad.out.y, quad.reference.y, quad.low.y, own, other) << 1
        | tested(quad.out.z, quad.reference.z, quad.high.x, own, other) << 2
        | tested(quad.out.w, quad.reference.w, quad.high.y, own, other) << 3;
    if (odd) examine(s, quad, odd);
    add(sums, quad.out.x, quad.reference.x, quad.low.x);
    add(sums, quad.out.y, quad.reference.y, quad.low.y);
    add(sums, quad.out.z, quad.reference.z, quad.high.x);
    add(sums, quad.out.w, quad.reference.w, quad.high.y);
    return hash;
}

// The elements of an output that fall to this thread: four at a time, then what is left over.
// A quad's number has 32 bits: 2^34 elements are more than any GPU has room for.
static __device__ __forceinline__ unsigned long long compare_output(Shared& s, Sums& sums)
{
    const Job& job = s.job;
    const unsigned int quads = (unsigned int)(job.n / 4), lane = threadIdx.x & 31;
    unsigned int base = number(s) * THREADS + (threadIdx.x & ~31u);  // the warp's first quad
    unsigned int turn = threadIdx.x >> 5;
    Stage& stage = s.warps[threadIdx.x >> 5].stage;
    unsigned long long hash = 0;
    send(s, stage, base, quads);
    AWAIT();
    __syncwarp();
    begin_limits(s, receive(stage), base + lane < quads);
    for (; base < quads; base += stride(s)) {  // a warp's lanes stay together
        AWAIT();
        __syncwarp();
        Quad quad = receive(stage);
        __syncwarp();
        send(s, stage, base + stride(s), quads);
        // A warp in turn asks what other blocks have found.
        const bool asks = (++turn & (WARPS - 1)) == 0 && lane < MAXIMA;
        const unsigned int heard = asks ? LOAD(&s.common->limits[lane]) : 0;
        if (base + lane < quads) hash += compare_quad(s, quad, base + lane, sums);
        if (asks) atomicMax(&s.limits[lane], heard);
    }
    const long long rest = job.n / 4 * 4 + number(s) * THREADS + threadIdx.x;
    if (rest < job.n) {
        float* const out = (float*)job.out + rest;
        Quad quad = {};
        quad.out.x = LOAD(out);
        quad.reference.x = __ldg((const float*)job.reference + rest);
        quad.low.x = __ldg((const double*)job.truth + rest);
        hash += share(quad.out.x, place(rest));
        examine(s, quad, 1);
        add(sums, quad.out.x, quad.reference.x, quad.low.x);
        if (job.refill) STORE(out, __uint_as_float(job.word));
    }
    return hash;
}

// How many of the words of a zone that fall to this thread no longer hold what they should.
static __device__ __forceinline__ unsigned int check_zone(const Shared& s)
{
    const Job& job = s.job;
    const unsigned int* const words = (const unsigned int*)job.out;
    const unsigned int* const pristine = (const unsigned int*)job.reference;
    const unsigned int same = job.word;
    const long long quads = ((job.out | job.reference) & 15) == 0 ? job.n / 4 : 0;
    const long long stride = (long long)job.blocks * THREADS;
    const long long first = (long long)number(s) * THREADS + threadIdx.x;
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

static __device__ __forceinline__ unsigned long long larger(
    unsigned long long left, unsigned long long right)
{
    return left > right ? left : right;
}

// Fold a sum of a warp's lanes into lane 0, always in the same order.
static __device__ __forceinline__ double fold_sum(double value)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

static __device__ __forceinline__ unsigned long long fold_bits(unsigned long long value)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

static __device__ __forceinline__ unsigned long long fold_largest(unsigned long long value)
{
    const unsigned int high = largest((unsigned int)(value >> 32));
    const unsigned int low = largest((unsigned int)(value >> 32) == high ? (unsigned int)value : 0);
    return (unsigned long long)high << 32 | low;
}

// Leave the partials of a block, field by field, so that the last block reads them in one sweep.
static __device__ __forceinline__ void leave_partials(Shared& s, double* partials)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned int blocks = s.job.blocks;
    double* const mine = partials + (long long)s.job.first * FIELDS + number(s);
    if (warp < ROWS) {  // a warp a row
        double value = s.warps[0].rows[warp][lane];
        if (warp < SUMS) {
#pragma unroll
            for (int w = 1; w < WARPS; ++w) value += s.warps[w].rows[warp][lane];
            value = fold_sum(value);
        } else {
            unsigned long long bits = (unsigned long long)__double_as_longlong(value);
#pragma unroll
            for (int w = 1; w < WARPS; ++w)
                bits += (unsigned long long)__double_as_longlong(s.warps[w].rows[warp][lane]);
            value = __longlong_as_double((long long)fold_bits(bits));
        }
        if (lane == 0) mine[(long long)(warp < SUMS ? MAXIMA + warp : HASH) * blocks] = value;
    } else if (warp == ROWS && lane < MAXIMA + COUNTS) {
        const int field = lane < MAXIMA ? lane : lane + SUMS;
        unsigned long long bits;
        if (lane == PEAK) {
            bits = (unsigned long long)__double_as_longlong((double)__uint_as_float(s.peak));
        } else if (lane < MAXIMA) {
            bits = s.maxima[lane] > s.floors[lane] ? s.maxima[lane] : 0;
        } else {
            bits = s.counts[lane - MAXIMA];
            if (bits) s.counted = 1;
        }
        mine[(long long)field * blocks] = __longlong_as_double((long long)bits);
    }
}

// Fold the partials of a job, a warp a field. Counts come last, and only if there are any.
static __device__ __forceinline__ void fold_partials(Shared& s, const double* partials)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned int blocks = s.job.blocks;
    const unsigned int counted = LOAD(&s.common->counted);
#pragma unroll 1
    for (int turn = warp; turn < FIELDS; turn += WARPS) {
        const int field = turn == 0 ? HASH : turn - 1;
        double value = 0.0;  // of a maximum, a sum and a count alike
        unsigned int limit = 0;
        if (turn < FIELDS - COUNTS || counted) {
            const double* const parts = partials + ((long long)s.job.first * FIELDS)
                + (long long)field * blocks;
            if (field < MAXIMA) limit = LOAD(&s.common->limits[field]);
            unsigned long long bits = 0;
            for (unsigned int b = lane; b < blocks; b += 32 * AHEAD) {
                double next[AHEAD];
#pragma unroll
                for (int k = 0; k < AHEAD; ++k)
                    next[k] = b + 32 * k < blocks ? LOAD(parts + b + 32 * k) : 0.0;
                if (field < MAXIMA) {
#pragma unroll
                    for (int k = 0; k < AHEAD; ++k)
                        bits = larger(bits, (unsigned long long)__double_as_longlong(next[k]));
                } else if (field < MAXIMA + SUMS) {
#pragma unroll
                    for (int k = 0; k < AHEAD; ++k) value += next[k];
                } else {
#pragma unroll
                    for (int k = 0; k < AHEAD; ++k)
                        bits += (unsigned long long)__double_as_longlong(next[k]);
                }
            }
            if (field < MAXIMA)
                value = __longlong_as_double((long long)fold_largest(bits));
            else if (field < MAXIMA + SUMS)
                value = fold_sum(value);
            else
                value = __longlong_as_double((long long)fold_bits(bits));
        }
        if (lane > 0) continue;
        if (field == MAXIMA + SUMS + OWN_PAIRS || field == MAXIMA + SUMS + TRUTH_PAIRS)
            value = __longlong_as_double(s.job.n - __double_as_longlong(value));
        s.result[field] = value;
        if (field >= MAXIMA) continue;
        if (limit > limit_of(field, value)) s.stray = 1;
        s.common->limits[field] = 0;  // for the next launch
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_A_MULTIPROCESSOR) compare(
    const Job* jobs, const int* owners, double* partials, Common* commons, double* results,
    long long launch)
{
    __shared__ Shared s;
    const int thread = threadIdx.x;
    // The job that this block works for: most often the first one, which need not wait to be told.
    Job mine = jobs[0];
    unsigned int limit = thread < MAXIMA ? LOAD(&commons[0].limits[thread]) : 0;
    const int owner = owners[blockIdx.x];
    if (owner != 0) {
        mine = jobs[owner];
        if (thread < MAXIMA) limit = LOAD(&commons[owner].limits[thread]);
    }
    // In shared memory, since registers are few: what is the same for all threads.
    if (thread == 0) {
        s.job = mine;
        s.aligned = ((mine.out | mine.reference | mine.truth) & 15) == 0;
        s.common = commons + owner;
        s.result = results + (long long)owner * RESULT;
        s.stray = s.counted = s.peak = 0;
    }
    if (thread < MAXIMA) {
        s.maxima[thread] = s.floors[thread] = 0;
        s.limits[thread] = limit;
    }
    if (thread < COUNTS) s.counts[thread] = 0;
    __syncthreads();
    const Job& job = s.job;

    Sums sums = {{0.0, 0.0, 0.0}, 0.0f};
    unsigned long long hash = 0;
    if (job.truth) {
        hash = compare_output(s, sums);
    } else if (const unsigned int damaged = check_zone(s)) {
        atomicAdd(&s.counts[MATCHES], damaged);
    }
    __syncwarp();  // the rows lie where stages did
    Warp& own = s.warps[thread >> 5];
    for (int k = 0; k < SUMS; ++k) own.rows[k][thread & 31] = sums.values[k];
    own.rows[SUMS][thread & 31] = __longlong_as_double((long long)hash);
    const unsigned int peak = largest(__float_as_uint(sums.peak));
    if ((thread & 31) == 0) atomicMax(&s.peak, peak);
    __syncthreads();
    leave_partials(s, partials);
    __syncthreads();
    if (thread == 0) {
        // One fence does for what the others have written: they have come to the barrier.
        if (s.counted) atomicOr(&s.common->counted, 1u);
        __threadfence();
        s.last = atomicAdd(&s.common->ended, 1u) == job.blocks - 1;
        if (s.last) __threadfence();
    }
    __syncthreads();
    if (!s.last) return;
    fold_partials(s, partials);
    __syncthreads();
    if (thread > 0) return;
    s.result[FIELDS] = __longlong_as_double(s.stray ? 0 : launch);
    s.common->ended = s.common->counted = 0;
}
