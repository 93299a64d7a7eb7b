// A fiber's context: where it was suspended. x86-64 by hand; elsewhere (or with HOSTGPU_UCONTEXT)
// by ucontext, which costs two system calls a switch.
#ifndef HOSTGPU_CONTEXT_H
#define HOSTGPU_CONTEXT_H

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && !defined(HOSTGPU_UCONTEXT)

namespace hostgpu {

struct Context {
    void* stack_pointer;
};

extern "C" void hostgpu_switch(void** from, void* to);
extern "C" [[noreturn]] void hostgpu_jump(void* to);

// Callee-saved registers only; the control words of the floating-point units never change here. An
// indirect jump instead of `ret` keeps the return predictor out of the way.
__asm__(R"(
    .text
    .p2align 4
    .globl hostgpu_switch
    .hidden hostgpu_switch
    .type hostgpu_switch, @function
hostgpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size hostgpu_switch, .-hostgpu_switch
    .p2align 4
    .globl hostgpu_jump
    .hidden hostgpu_jump
    .type hostgpu_jump, @function
hostgpu_jump:
    movq %rdi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size hostgpu_jump, .-hostgpu_jump
)");

inline void context_switch(Context& from, Context& to) {
    hostgpu_switch(&from.stack_pointer, to.stack_pointer);
}
[[noreturn]] inline void context_jump(Context& to) { hostgpu_jump(to.stack_pointer); }

// A context that starts `entry` on a stack that ends at `top` (16-byte aligned).
inline void context_make(Context& context, char* top, std::size_t, void (*entry)()) {
    void** slot = reinterpret_cast<void**>(top);
    *--slot = nullptr;  // as after a call: no return address, the stack 8 below alignment
    *--slot = reinterpret_cast<void*>(entry);
    for (int i = 0; i < 6; ++i) *--slot = nullptr;
    context.stack_pointer = slot;
}

}  // namespace hostgpu

#else

#include <ucontext.h>

namespace hostgpu {

struct Context {
    ucontext_t state;
};

inline void context_switch(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
[[noreturn]] inline void context_jump(Context& to) {
    setcontext(&to.state);
    __builtin_unreachable();
}
inline void context_make(Context& context, char* top, std::size_t bytes, void (*entry)()) {
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = top - bytes;
    context.state.uc_stack.ss_size = bytes;
    context.state.uc_link = nullptr;
    makecontext(&context.state, entry, 0);
}

}  // namespace hostgpu

#endif

#endif
