// What a compiled unit and the launcher share: plain structs, no code.
#ifndef HOSTGPU_ABI_H
#define HOSTGPU_ABI_H

namespace hostgpu {

struct Index3 {
    unsigned x, y, z;
};

// How lanes of a warp exchange values. The four shuffles follow PTX `shfl.sync`.
// ACTIVE waits for nobody: it tells which lanes came along.
enum Exchange : unsigned {
    SYNC, SHUFFLE_INDEX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, BALLOT, ACTIVE
};

// What a block barrier makes of one predicate a thread.
enum Vote : unsigned { VOTE_COUNT, VOTE_AND, VOTE_OR };

// Where a `__shared__` variable lies in the launch under way; one a declaration and instantiation.
struct SharedSlot {
    unsigned long long launch;
    void* address;
};

// The unit's side of the interface. The launcher fills in the functions when it loads the unit and
// the indices while it runs.
struct Unit {
    Index3* thread_index;
    Index3* block_index;
    Index3* block_size;
    Index3* grid_size;
    void* dynamic_shared;
    unsigned long long launch;
    void (*barrier)(unsigned site);
    int (*vote)(unsigned kind, int predicate, unsigned site);
    unsigned long long (*exchange)(unsigned kind, unsigned mask, unsigned long long value,
                                   int operand, int width);
    unsigned (*lane)();
    void (*next_thread)();
    void* (*allocate_shared)(SharedSlot* slot, unsigned long long bytes, unsigned long long align);
};

// One `__global__` function. `entry` runs it for one thread after another and never returns.
// `signature` has one letter an argument: p pointer, i 32-bit integer, l 64-bit integer, f float,
// d double, ? anything else.
struct Kernel {
    const char* name;
    void (*entry)(void** arguments);
    const char* signature;
};

}  // namespace hostgpu

#endif
