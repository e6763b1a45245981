/* group.c - a process that cannot leave its process group, nor can its
 * descendants.
 *
 * A signal to a group reaches every member at once, even one that forks just
 * then; looking for descendants in /proc would race with those. So the two
 * system calls that leave a group are forbidden, by a filter of the kernel that
 * a process can neither remove nor withhold from its children. */
#define _GNU_SOURCE /* syscall */
#include "measure/internal.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif

/* How the filter knows that a number is one of this program's system calls. */
#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE AUDIT_ARCH_RISCV64
#endif

#if defined(SECCOMP_SET_MODE_FILTER) && defined(SYS_seccomp) && defined(MACHINE)
#include <errno.h>

/* A filter must not cost speed: without this flag, kernels from 4.17 to 5.15
 * turn off speculative loads as well. Older ones do not know it. */
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW 4
#endif

/* From here on, numbers are of x86-64's second set of system calls. */
enum { SECOND_SET = 0x40000000 };

#define LOAD(field) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP(test, value, if_so, else) \
    BPF_JUMP(BPF_JMP | (test) | BPF_K, value, if_so, else)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

void sp_group_stay(void)
{
    static struct sock_filter rules[] = {
        LOAD(arch),
        SKIP(BPF_JEQ, MACHINE, 0, 4),
        LOAD(nr),
        SKIP(BPF_JGE, SECOND_SET, 2, 0),
        SKIP(BPF_JEQ, SYS_setsid, 2, 0),
        SKIP(BPF_JEQ, SYS_setpgid, 1, 2),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
        ANSWER(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) == 0)
        return;
    (void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}
#else
void sp_group_stay(void) {}
#endif
