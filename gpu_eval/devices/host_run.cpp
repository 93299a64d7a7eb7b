// The library's C interface: arenas, units, one call a cell. Signals and the deadline live here.

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "host_arena.h"
#include "host_compare.h"
#include "host_grid.h"

using namespace hostgpu;

namespace {

// In the order of host_library.Ending.
enum Ending : int { OK, NONFINITE, OUT_OF_BOUNDS, UNWRITTEN, CRASH, TIMEOUT, LAUNCH_ERROR };

struct Launch {
    const Kernel* kernel;
    void** arguments;
    Index3 grid, block;
    std::uint64_t shared;
};

struct Result {
    Comparison comparison;
    double seconds;
    std::uint64_t unwritten;
    std::int32_t ending;
    std::int32_t divergent;
    char message[256];
};

// A loaded file, with what its writable data held when it was loaded.
struct Module {
    std::string path;
    int users;
    void* handle;
    Unit* unit;
    char* data;
    std::vector<char> initial;
};

constexpr std::size_t RESTORED_LIMIT = 4 << 20;
const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
constexpr int SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS;

std::vector<Module*> modules;
volatile bool running;
pid_t runner;
Arena* arenas[2];
volatile int fatal_signal;
char* volatile fatal_address;
struct sigaction previous[SIGNAL_COUNT];
timer_t timer;
pid_t timer_owner;
std::string last_error;

pid_t thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

#if defined(__x86_64__)
// An integer division by zero traps on x86 but gives -1 (quotient and remainder alike) on an H200:
// step over the instruction with that result. INT_MIN / -1 wraps. Other machines do not trap.
bool step_over_division(ucontext_t& context) {
    static const int registers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};
    greg_t* values = context.uc_mcontext.gregs;
    const unsigned char* start = reinterpret_cast<const unsigned char*>(values[REG_RIP]);
    const unsigned char* at = start;
    unsigned rex = 0;
    if ((*at & 0xF0) == 0x40) rex = *at++;
    if (*at++ != 0xF7) return false;  // 32 and 64 bits; no kernel divides shorter integers
    const unsigned modrm = *at++, mode = modrm >> 6, operation = modrm >> 3 & 7, base = modrm & 7;
    if (operation != 6 && operation != 7) return false;
    if (mode != 3) {
        unsigned index_base = base;
        if (base == 4) index_base = *at++ & 7;
        if (mode == 1) at += 1;
        if (mode == 2 || (mode == 0 && index_base == 5)) at += 4;
    }
    const bool wide = rex & 8;
    bool zero = true;
    if (mode == 3) {
        const greg_t divisor = values[registers[base | (rex & 1) << 3]];
        zero = wide ? divisor == 0 : static_cast<std::int32_t>(divisor) == 0;
    }
    if (zero) values[REG_RAX] = values[REG_RDX] = wide ? -1 : 0xffffffffL;
    else values[REG_RDX] = 0;  // the dividend, INT_MIN, stays in RAX as the quotient
    values[REG_RIP] += at - start;
    return true;
}
#else
bool step_over_division(ucontext_t&) { return false; }
#endif

void on_signal(int signal, siginfo_t* info, void* context) {
    const bool mine = running && thread_id() == runner;
    if (!mine && signal == SIGALRM) return;  // the deadline of a run that has just ended
    char* address = static_cast<char*>(info->si_addr);
    if (mine && signal == SIGSEGV && info->si_code == SEGV_ACCERR) {
        for (Arena* arena : arenas) {
            if (arena && arena->open(address)) return;
        }
    }
    if (mine && signal == SIGFPE && step_over_division(*static_cast<ucontext_t*>(context))) return;
    if (mine) {
        fatal_signal = signal;
        fatal_address = address;
        if (abandon_grid(signal == SIGALRM)) return;
    }
    for (int i = 0; i < SIGNAL_COUNT; ++i) {
        if (SIGNALS[i] == signal) sigaction(signal, &previous[i], nullptr);
    }
    // Not a kernel's fault: the instruction runs again, into the handler that was there before.
}

void catch_signals() {
    static char stack[64 << 10];
    static thread_local bool ready = false;
    if (!ready) {
        stack_t alternative{};
        alternative.ss_sp = stack;
        alternative.ss_size = sizeof stack;
        if (sigaltstack(&alternative, nullptr) != 0) throw std::runtime_error("sigaltstack failed");
        ready = true;
    }
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    // NODEFER: the handler does not return where a run is given up.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &action, &previous[i]);
}

void release_signals() {
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &previous[i], nullptr);
}

// The deadline counts this thread's own processor time, so that a busy machine makes no timeouts.
void set_deadline(double seconds) {
    if (timer_owner != runner) {
        struct sigevent event {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGALRM;
#ifdef sigev_notify_thread_id
        event.sigev_notify_thread_id = runner;
#else
        event._sigev_un._tid = runner;
#endif
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
            throw std::runtime_error("timer_create failed");
        }
        timer_owner = runner;
    }
    struct itimerspec value {};
    value.it_value.tv_sec = static_cast<time_t>(seconds);
    value.it_value.tv_nsec =
        static_cast<long>((seconds - static_cast<double>(value.it_value.tv_sec)) * 1e9);
    timer_settime(timer, 0, &value, nullptr);
}

// This thread's processor time, as for the deadline.
double now() {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

const char* signal_text(int signal) {
    switch (signal) {
        case SIGFPE:
            return "integer division by zero or overflow";
        case SIGILL:
            return "trap";
        case SIGABRT:
            return "abort";
        case SIGBUS:
            return "bus error";
        default:
            return "access to an unmapped address";
    }
}

std::string describe_fault(double deadline) {
    char text[200];
    if (fatal_signal == SIGALRM) {
        std::snprintf(text, sizeof text, "no end after %g s", deadline);
        return text;
    }
    std::string message = signal_text(fatal_signal);
    if (fatal_signal != SIGSEGV && fatal_signal != SIGBUS) return message;
    for (Arena* arena : arenas) {
        Buffer* buffer = arena ? arena->owner(fatal_address) : nullptr;
        if (!buffer) continue;
        char* end = buffer->data + buffer->bytes;
        bool after = fatal_address >= end;
        std::snprintf(text, sizeof text, ", %lld bytes %s of '%s'",
                      static_cast<long long>(after ? fatal_address - end : buffer->data - fatal_address),
                      after ? "past the end" : "before the start", buffer->name.c_str());
        return message + text;
    }
    if (const char* place = describe_private(fatal_address)) return message + ", beside " + place;
    return message;
}

// Run all launches once. False: `result` says why it did not come to its end.
bool run_launches(Module& module, const Launch* launches, int count, bool reversed, double deadline,
                  Result& result) {
    running = false;
    runner = thread_id();
    fatal_signal = 0;
    if (!module.initial.empty()) {
        std::memcpy(module.data, module.initial.data(), module.initial.size());
    }
    catch_signals();
    set_deadline(deadline);
    bool divergent = false;
    GridEnd end = GridEnd::DONE;
    grid_begin();
    double start = now();
    running = true;
    for (int i = 0; i < count && end == GridEnd::DONE; ++i) {
        const Launch& launch = launches[i];
        GridLaunch grid{module.unit, launch.kernel->entry, launch.arguments, launch.grid,
                        launch.block, launch.shared, reversed};
        end = run_grid(grid, divergent);
    }
    running = false;
    result.seconds = now() - start;
    set_deadline(0);
    release_signals();
    result.divergent = divergent;
    if (end == GridEnd::DONE) return true;
    std::string message;
    switch (end) {
        case GridEnd::DEADLOCK:
            result.ending = TIMEOUT;
            message = "deadlock";
            break;
        case GridEnd::SHARED_TOO_LARGE:
            result.ending = LAUNCH_ERROR;
            message = "too much shared memory: more than 48 KiB static or 227 KiB in all";
            break;
        default:
            result.ending = fatal_signal == SIGALRM ? TIMEOUT : CRASH;
            message = describe_fault(deadline);
    }
    std::snprintf(result.message, sizeof result.message, "%s", message.c_str());
    return false;
}

bool valid_launch(const Launch& launch, std::string& message) {
    const Index3 &grid = launch.grid, &block = launch.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || !threads) message = "grid or block of size zero";
    else if (block.x > 1024 || block.y > 1024 || block.z > 64) message = "block dimension too large";
    else if (threads > BLOCK_LIMIT) message = "more than 1024 threads a block";
    else if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) message = "grid too large";
    else if (launch.shared > SHARED_LIMIT) message = "more than 227 KiB of shared memory";
    return message.empty();
}

std::uint64_t unwritten_words(const Arena& arena) {
    std::uint64_t found = 0;
    for (const Buffer& buffer : arena.buffers) {
        if (buffer.role == Role::OUTPUT) found += count_words(buffer.data, buffer.bytes, POISON);
    }
    return found;
}

struct Segment {
    const char* inside;
    char* begin;
    std::size_t bytes;
};

// The writable segment that the unit lies in, without the part that the linker made read-only.
int find_segment(struct dl_phdr_info* info, std::size_t, void* wanted) {
    Segment& segment = *static_cast<Segment*>(wanted);
    char *begin = nullptr, *end = nullptr, *readonly = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) & header = info->dlpi_phdr[i];
        char* from = reinterpret_cast<char*>(info->dlpi_addr + header.p_vaddr);
        char* to = from + header.p_memsz;
        if (header.p_type == PT_LOAD && segment.inside >= from && segment.inside < to) {
            begin = from;
            end = to;
        } else if (header.p_type == PT_GNU_RELRO) {
            readonly = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(to) + 4095) & ~4095ull);
        }
    }
    if (!begin) return 0;
    segment.begin = readonly ? std::max(begin, readonly) : begin;
    segment.bytes = static_cast<std::size_t>(end - segment.begin);
    return 1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* hostgpu_error() { return last_error.c_str(); }

int hostgpu_setup() {
    try {
        grid_setup();
        return 0;
    } catch (const std::exception& error) {
        last_error = error.what();
        return -1;
    }
}

Arena* hostgpu_arena(const Arena::Specification* specifications, int count) {
    try {
        return new Arena(specifications, count);
    } catch (const std::exception& error) {
        last_error = error.what();
        return nullptr;
    }
}

void hostgpu_arena_free(Arena* arena) { delete arena; }

void* hostgpu_address(Arena* arena, int index) {
    return arena->buffers[static_cast<std::size_t>(index)].data;
}

// What an output held after the last run that ended without an exception.
const void* hostgpu_output(Arena* arena, int index) {
    return arena->buffers[static_cast<std::size_t>(index)].pristine.data();
}

Module* hostgpu_load(const char* path) {
    for (Module* module : modules) {  // another session's: loaded once, with one initial state
        if (module->path == path) {
            ++module->users;
            return module;
        }
    }
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    Unit* unit = handle ? static_cast<Unit*>(dlsym(handle, "hostgpu_unit")) : nullptr;
    if (!unit) {
        const char* error = dlerror();
        last_error = error ? error : "not a unit";
        if (handle) dlclose(handle);
        return nullptr;
    }
    grid_attach(*unit);
    Segment segment{reinterpret_cast<char*>(unit), nullptr, 0};
    dl_iterate_phdr(find_segment, &segment);
    Module* module = new Module{path, 1, handle, unit, segment.begin, {}};
    modules.push_back(module);
    if (segment.begin && segment.bytes <= RESTORED_LIMIT) {
        module->initial.assign(segment.begin, segment.begin + segment.bytes);
    }
    return module;
}

void hostgpu_unload(Module* module) {
    if (--module->users > 0) return;
    modules.erase(std::find(modules.begin(), modules.end(), module));
    dlclose(module->handle);
    delete module;
}

// The table of an implementation's kernels: ends with a null name.
const Kernel* hostgpu_kernels(Module* module, const char* symbol) {
    return static_cast<const Kernel*>(dlsym(module->handle, symbol));
}

void hostgpu_run(Module* module, Arena* tensors, Arena* workspaces, const Launch* launches,
                 int count, int schedule, double deadline, Result* result) {
    std::memset(result, 0, sizeof *result);
    comparison_begin(result->comparison);
    std::string message;
    for (int i = 0; i < count; ++i) {
        if (valid_launch(launches[i], message)) continue;
        result->ending = LAUNCH_ERROR;
        std::snprintf(result->message, sizeof result->message, "%s: %s", launches[i].kernel->name,
                      message.c_str());
        return;
    }
    arenas[0] = tensors;
    arenas[1] = workspaces;
    bool outside = false, stale = false;
    for (;;) {
        for (Arena* arena : arenas) {
            if (arena) arena->prepare(stale);
        }
        bool ended = run_launches(*module, launches, count, schedule != 0, deadline, *result);
        for (Arena* arena : arenas) {
            if (arena && !arena->restore(message)) outside = true;
        }
        if (!ended) return;
        if (stale) break;
        result->unwritten = unwritten_words(*tensors);
        if (!result->unwritten) break;
        message.clear();
        stale = true;
    }
    for (Buffer& buffer : tensors->buffers) {
        if (buffer.role != Role::OUTPUT) continue;
        comparison_add(result->comparison, reinterpret_cast<const float*>(buffer.data),
                       buffer.reference, buffer.truth, buffer.bytes / 4);
        buffer.pristine.assign(buffer.data, buffer.data + buffer.bytes);
    }
    const std::uint64_t* counts = result->comparison.counts;
    result->ending = outside                                  ? OUT_OF_BOUNDS
                     : result->unwritten                      ? UNWRITTEN
                     : counts[NAN_ONE] + counts[INF_MISMATCH] ? NONFINITE
                                                              : OK;
    if (result->unwritten) {
        if (!message.empty()) message += "; ";
        message += std::to_string(result->unwritten) + " elements not written";
    }
    std::snprintf(result->message, sizeof result->message, "%s", message.c_str());
}

void hostgpu_compare_begin(Comparison* total) { comparison_begin(*total); }
void hostgpu_compare(Comparison* total, const float* output, const float* reference,
                     const double* truth, std::uint64_t count) {
    comparison_add(*total, output, reference, truth, count);
}

}  // extern "C"
#pragma GCC visibility pop
