#include "host_grid.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "host_context.h"

namespace hostgpu {
namespace {

// A thread that never blocks costs a loop iteration of the fiber that runs it. One that blocks keeps
// that fiber's stack, and the next thread begins on another.
//
// The order is greedy: a warp runs until all its lanes have exited or wait at the block's barrier,
// and only then the next warp begins. Stepping all warps together would hide removed barriers.
struct Warp;

struct Thread {
    Index3 index;
    unsigned lane;
    Warp* warp;
    Context context;
    char* stack;
    // Of the exchange it waits for:
    unsigned kind, mask;
    unsigned long long value, result;
    int operand, width;
};

// Sets of lanes. A live lane is in exactly one of unstarted, ready, exchanging, waiting, done, or
// it is the one that runs.
struct Warp {
    unsigned live, unstarted, ready, exchanging, waiting, done;
    Thread* threads;
};

constexpr std::size_t PAGE = 4096;
// With its guard. Units are compiled with -fstack-clash-protection: no frame steps over a guard.
constexpr std::size_t STACK = 256 << 10, GUARD = 16 << 10;
// Shared memory ends where hardware's does: an H200 traps an access beyond the allocation, which is
// rounded up to 128 bytes, and lets one up to 1 KiB before it pass.
constexpr std::uint64_t ROUNDING = 128, BEFORE = 1024;
constexpr std::uint64_t STATIC_REGION = STATIC_SHARED_LIMIT + PAGE;
constexpr std::uint64_t DYNAMIC_REGION = (228 << 10) + PAGE;
constexpr std::size_t MARGIN = 1 << 20;  // unmapped, around each region

Thread threads[BLOCK_LIMIT];
Warp warps[BLOCK_LIMIT / 32];
unsigned thread_count, warp_count;
Index3 shape;  // of the block that `threads` is laid out for

const GridLaunch* launch;
bool reversed;
Thread* current;
unsigned cursor;  // position in the order of warps
unsigned arrived, exited, votes;
unsigned last_arrived, last_votes;
unsigned barrier_site;  // of the first thread that waits; 0 where unknown
bool diverged;
GridEnd end;
Context home;  // run_grid's own
// Whether a fiber runs, so that `home` is where run_grid waits. Set by fibers alone.
volatile bool inside;
volatile bool expired;
Index3* thread_index;

std::vector<char*> stacks;
char* stack_memory;
char *static_region, *static_end;
char *dynamic_region, *dynamic_end;
char *static_place, *dynamic_place;  // the lowest bytes in use
std::uint64_t dynamic_size = ~std::uint64_t{0};
unsigned long long launches;

unsigned first_lane(unsigned set) {
    return reversed ? 31u - static_cast<unsigned>(__builtin_clz(set))
                    : static_cast<unsigned>(__builtin_ctz(set));
}
Warp& warp_at(unsigned position) {
    return warps[reversed ? warp_count - 1 - position : position];
}

// The lane that PTX's shfl.sync reads from; the lane itself where the source is out of its segment.
unsigned source_lane(const Thread& thread) {
    int lane = static_cast<int>(thread.lane), operand = thread.operand & 31;
    int segment = (32 - thread.width) & 31;
    int first = lane & segment, last = first | (31 & ~segment), source = lane;
    switch (thread.kind) {
        case SHUFFLE_INDEX:
            source = first | (operand & ~segment);
            break;
        case SHUFFLE_UP:
            source = lane - operand;
            if (source < first) source = lane;
            break;
        case SHUFFLE_DOWN:
            source = lane + operand;
            if (source > last) source = lane;
            break;
        case SHUFFLE_XOR:
            source = lane ^ operand;
            if (source > last) source = lane;
            break;
    }
    return static_cast<unsigned>(source);
}

// Complete the exchange that a lane waits for if all lanes of its mask that have not exited wait
// too. Lanes outside the mask that give it as theirs come along, as they do on hardware.
bool release_exchange(Warp& warp, unsigned mask) {
    const unsigned alive = warp.live & ~warp.done;
    unsigned group = 0, ballot = 0, kinds = 0;
    unsigned long long values[32];
    mask &= alive;
    for (unsigned set = warp.exchanging; set; set &= set - 1) {
        unsigned lane = static_cast<unsigned>(__builtin_ctz(set));
        const Thread& thread = warp.threads[lane];
        if (thread.kind == ACTIVE || (thread.mask & alive) != mask) continue;
        group |= 1u << lane;
        kinds |= 1u << thread.kind;
        values[lane] = thread.value;
        ballot |= static_cast<unsigned>(thread.value & 1) << lane;
    }
    if (mask & ~group) return false;
    if (kinds & (kinds - 1) || group & ~mask) diverged = true;
    for (unsigned set = group; set; set &= set - 1) {
        Thread& thread = warp.threads[__builtin_ctz(set)];
        if (thread.mask & warp.live & warp.done) diverged = true;
        if (thread.kind == BALLOT) {
            thread.result = ballot;
        } else if (thread.kind != SYNC) {
            // A lane that takes no part gives 0, as seen on an H200.
            unsigned source = source_lane(thread);
            bool present = group >> source & 1;
            if (!present) diverged = true;
            thread.result = present ? values[source] : 0;
        }
    }
    warp.exchanging &= ~group;
    warp.ready |= group;
    return true;
}

// Lanes that ask who is active: those that ask now.
bool release_active(Warp& warp) {
    unsigned group = 0;
    for (unsigned set = warp.exchanging; set; set &= set - 1) {
        unsigned lane = static_cast<unsigned>(__builtin_ctz(set));
        if (warp.threads[lane].kind == ACTIVE) group |= 1u << lane;
    }
    for (unsigned set = group; set; set &= set - 1) {
        warp.threads[__builtin_ctz(set)].result = group;
    }
    warp.exchanging &= ~group;
    warp.ready |= group;
    return group != 0;
}

// Where no lane of a warp can run: complete exchanges. Exited lanes are forgiven; lanes that wait at
// a barrier are not, and hardware hangs there too.
bool release_any(Warp& warp) {
    bool released = release_active(warp);
    while (unsigned waiting = warp.exchanging) {
        for (; waiting; waiting &= waiting - 1) {
            const Thread& thread = warp.threads[__builtin_ctz(waiting)];
            if (thread.kind != ACTIVE && release_exchange(warp, thread.mask)) break;
        }
        if (!waiting) break;
        released = true;
    }
    return released;
}

void release_barrier() {
    if (exited) diverged = true;
    last_arrived = arrived;
    last_votes = votes;
    arrived = votes = 0;
    barrier_site = 0;
    for (unsigned i = 0; i < warp_count; ++i) {
        warps[i].ready = warps[i].waiting;
        warps[i].waiting = 0;
    }
    cursor = 0;
}

// The thread to run next, or nullptr where the block is done or stuck.
__attribute__((noinline)) Thread* pick() {
    for (;;) {
        while (cursor < warp_count) {
            Warp& warp = warp_at(cursor);
            unsigned runnable = warp.ready | warp.unstarted;
            if (runnable) return &warp.threads[first_lane(runnable)];
            if (warp.exchanging && release_any(warp)) continue;
            ++cursor;
        }
        if (arrived == 0 || arrived + exited != thread_count) break;
        release_barrier();
    }
    end = exited == thread_count ? GridEnd::DONE : GridEnd::DEADLOCK;
    return nullptr;
}

void fiber_main() {
    inside = true;
    launch->entry(launch->arguments);
}

[[noreturn]] void leave() {
    inside = false;
    context_jump(home);
}

void become(Thread& next) {
    current = &next;
    *thread_index = next.index;
}

// Give a thread that has not begun a stack.
void prepare_stack(Thread& next, char* stack) {
    next.warp->unstarted &= ~(1u << next.lane);
    next.stack = stack;
    // Stacks of equal alignment would share a few cache sets: stagger their tops.
    std::size_t colour = static_cast<std::size_t>((stack - stack_memory) / static_cast<long>(STACK));
    char* top = stack + STACK - 512 - colour % 12 * 256;
    context_make(next.context, top, static_cast<std::size_t>(top - stack) - GUARD, fiber_main);
}

char* take_stack() {
    char* stack = stacks.back();
    stacks.pop_back();
    return stack;
}

__attribute__((noinline)) void suspend_for(Thread& next) {
    Thread& self = *current;
    become(next);
    if (&next == &self) {
        self.warp->ready &= ~(1u << self.lane);
        return;
    }
    if (next.warp->unstarted >> next.lane & 1) {
        prepare_stack(next, take_stack());
    } else {
        next.warp->ready &= ~(1u << next.lane);
    }
    context_switch(self.context, next.context);
}

__attribute__((noinline)) void suspend_slowly() {
    Thread* next = pick();
    if (!next) leave();
    suspend_for(*next);
}

// Suspend the running thread and run the next. The usual case, another lane of the same warp that
// has run before, keeps nothing on the stack but what the switch itself saves: with hundreds of
// fibers each cache line of a stack counts.
inline __attribute__((always_inline)) void suspend() {
    Thread& self = *current;
    Warp& warp = *self.warp;
    unsigned runnable = warp.ready | warp.unstarted;
    if (__builtin_expect(!runnable, 0)) return suspend_slowly();
    unsigned lane = first_lane(runnable);
    Thread& next = warp.threads[lane];
    if (__builtin_expect(warp.unstarted >> lane & 1, 0)) return suspend_for(next);
    warp.ready &= ~(1u << lane);
    become(next);
    context_switch(self.context, next.context);
}

// The interface of a unit.

__attribute__((noinline)) void wait_at_barrier(unsigned site) {
    if (!barrier_site) barrier_site = site;
    if (site && site != barrier_site) diverged = true;
    current->warp->waiting |= 1u << current->lane;
    ++arrived;
    suspend();
}

int vote(unsigned kind, int predicate, unsigned site) {
    if (predicate) ++votes;
    wait_at_barrier(site);
    switch (kind) {
        case VOTE_COUNT:
            return static_cast<int>(last_votes);
        case VOTE_AND:
            return last_votes == last_arrived;
        default:
            return last_votes != 0;
    }
}

unsigned long long exchange(unsigned kind, unsigned mask, unsigned long long value, int operand,
                            int width) {
    Thread& self = *current;
    self.kind = kind;
    self.mask = mask;
    self.value = value;
    self.operand = operand;
    self.width = width;
    self.warp->exchanging |= 1u << self.lane;
    suspend();
    return current->result;  // `current` is this thread again
}

unsigned lane() { return current->lane; }

void next_thread() {
    Thread& self = *current;
    self.warp->done |= 1u << self.lane;
    ++exited;
    Thread* next = pick();
    if (!next) leave();
    become(*next);
    if (next->warp->unstarted >> next->lane & 1) {
        next->warp->unstarted &= ~(1u << next->lane);
        next->stack = self.stack;
        return;
    }
    next->warp->ready &= ~(1u << next->lane);
    stacks.push_back(self.stack);  // nothing else runs before the jump below
    context_jump(next->context);
}

// Variables lie one below the other in the order in which a launch first meets them, the first one
// at the end of shared memory: an overrun meets a neighbour or, soon, the guard.
void* allocate_shared(SharedSlot* slot, unsigned long long bytes, unsigned long long align) {
    const bool first = static_place == static_end;
    const std::uint64_t size = first ? (bytes + ROUNDING - 1) / ROUNDING * ROUNDING : bytes;
    const std::uint64_t used = static_cast<std::uint64_t>(static_end - static_place);
    const std::uint64_t total = (used + size + align - 1) / align * align;
    if (size > STATIC_SHARED_LIMIT || total > STATIC_SHARED_LIMIT ||
        total + launch->shared > SHARED_LIMIT) {
        end = GridEnd::SHARED_TOO_LARGE;
        leave();
    }
    static_place = static_end - total;
    slot->launch = launch->unit->launch;
    slot->address = static_place;
    return slot->address;
}

void lay_out(const Index3& block) {
    if (block.x == shape.x && block.y == shape.y && block.z == shape.z) return;
    shape = block;
    thread_count = block.x * block.y * block.z;
    warp_count = (thread_count + 31) / 32;
    unsigned linear = 0;
    for (unsigned z = 0; z < block.z; ++z) {
        for (unsigned y = 0; y < block.y; ++y) {
            for (unsigned x = 0; x < block.x; ++x, ++linear) {
                threads[linear].index = {x, y, z};
                threads[linear].lane = linear % 32;
                threads[linear].warp = &warps[linear / 32];
            }
        }
    }
    for (unsigned i = 0; i < warp_count; ++i) {
        unsigned lanes = std::min(32u, thread_count - 32 * i);
        warps[i].live = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
        warps[i].threads = &threads[32 * i];
    }
}

// Only the array and a little before it are mapped, so that nothing outlasts a launch unseen.
void place_dynamic(std::uint64_t size) {
    if (size == dynamic_size) return;
    dynamic_size = size;
    dynamic_place = dynamic_end - (size + ROUNDING - 1) / ROUNDING * ROUNDING;
    std::size_t closed = static_cast<std::size_t>(dynamic_place - BEFORE - dynamic_region);
    char* open = dynamic_region + closed / PAGE * PAGE;
    mprotect(dynamic_region, static_cast<std::size_t>(open - dynamic_region), PROT_NONE);
    mprotect(open, static_cast<std::size_t>(dynamic_end - open), PROT_READ | PROT_WRITE);
}

// All bits set: a NaN as a float, -1 as an integer.
void poison_shared() {
    std::memset(static_place - BEFORE, 0xFF,
                static_cast<std::size_t>(static_end - static_place) + BEFORE);
    std::memset(dynamic_place - BEFORE, 0xFF,
                static_cast<std::size_t>(dynamic_end - dynamic_place) + BEFORE);
}

void begin_block() {
    poison_shared();
    for (unsigned i = 0; i < warp_count; ++i) {
        Warp& warp = warps[i];
        warp.unstarted = warp.live;
        warp.ready = warp.exchanging = warp.waiting = warp.done = 0;
    }
    cursor = arrived = exited = votes = 0;
    barrier_site = 0;
    end = GridEnd::ABANDONED;
}

void refill_stacks() {
    stacks.clear();
    for (std::size_t i = BLOCK_LIMIT; i-- > 0;) stacks.push_back(stack_memory + i * STACK);
}

char* reserve(std::size_t bytes) {
    void* memory =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot reserve address space");
    return static_cast<char*>(memory);
}

}  // namespace

void grid_setup() {
    if (stack_memory) return;
    char* memory = reserve(BLOCK_LIMIT * STACK);
    for (std::size_t i = 0; i < BLOCK_LIMIT; ++i) {
        mprotect(memory + i * STACK + GUARD, STACK - GUARD, PROT_READ | PROT_WRITE);
    }
    static_region = reserve(STATIC_REGION + 2 * MARGIN) + MARGIN;
    static_end = static_place = static_region + STATIC_REGION;
    mprotect(static_region, STATIC_REGION, PROT_READ | PROT_WRITE);
    dynamic_region = reserve(DYNAMIC_REGION + 2 * MARGIN) + MARGIN;
    dynamic_end = dynamic_region + DYNAMIC_REGION;
    stacks.reserve(BLOCK_LIMIT);
    stack_memory = memory;
}

void grid_attach(Unit& unit) {
    unit.barrier = wait_at_barrier;
    unit.vote = vote;
    unit.exchange = exchange;
    unit.lane = lane;
    unit.next_thread = next_thread;
    unit.allocate_shared = allocate_shared;
}

GridEnd run_grid(const GridLaunch& request, bool& divergent) {
    launch = &request;
    reversed = request.reversed;
    Unit& unit = *request.unit;
    thread_index = unit.thread_index;
    lay_out(request.block);
    place_dynamic(request.shared);
    std::memset(static_region, 0xFF, STATIC_REGION);
    unit.launch = ++launches;
    unit.dynamic_shared = dynamic_place;
    *unit.block_size = request.block;
    *unit.grid_size = request.grid;
    static_place = static_end;
    diverged = false;
    if (expired) return GridEnd::ABANDONED;
    refill_stacks();

    const Index3& grid = request.grid;
    std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    for (std::uint64_t i = 0; i < blocks; ++i) {
        std::uint64_t linear = reversed ? blocks - 1 - i : i;
        *unit.block_index = {static_cast<unsigned>(linear % grid.x),
                             static_cast<unsigned>(linear / grid.x % grid.y),
                             static_cast<unsigned>(linear / grid.x / grid.y)};
        begin_block();
        Thread& first = *pick();
        become(first);
        prepare_stack(first, take_stack());
        context_switch(home, first.context);
        if (expired) end = GridEnd::ABANDONED;
        if (end != GridEnd::DONE) {
            divergent = divergent || diverged;
            return end;
        }
        stacks.push_back(current->stack);
    }
    divergent = divergent || diverged;
    return GridEnd::DONE;
}

void grid_begin() { inside = expired = false; }

bool abandon_grid(bool wait) {
    if (inside) {
        end = GridEnd::ABANDONED;
        leave();
    }
    if (wait) expired = true;
    return wait;
}

const char* describe_private(const char* address) {
    if (address >= stack_memory && address < stack_memory + BLOCK_LIMIT * STACK) {
        return "the thread's stack";
    }
    if (address >= static_region - MARGIN && address < static_end + MARGIN) {
        return "static shared memory";
    }
    if (address >= dynamic_region - MARGIN && address < dynamic_end + MARGIN) {
        return "dynamic shared memory";
    }
    return nullptr;
}

}  // namespace hostgpu
