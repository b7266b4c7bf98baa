//! Which system calls a worker may make (seccomp). Two filters, both in force: one from the start, which ends the
//! process that tries to become another program, to reach the network or to look into another process; one from the
//! moment that a query's tables are open, which lets it compute, and answer, and nothing else.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};

/// None of these has a place in a worker; whoever makes one has taken the process over.
const DANGEROUS: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_quotactl,
    libc::SYS_personality,
    libc::SYS_memfd_create,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_capset,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
];

/// What computing, waiting for each other, reading open files and answering take.
const COMPUTING: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_ppoll,
    libc::SYS_futex,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_prlimit64,
    libc::SYS_sysinfo,
    libc::SYS_kill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_membarrier,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The first filter. Answers whether the kernel enforces it.
pub fn deny_dangerous() -> bool {
    apply(DANGEROUS, SeccompAction::Allow, SeccompAction::KillProcess)
}

/// The second filter. Other calls fail as if a right were missing, so that a library that tries one goes on.
pub fn allow_computing_only() -> bool {
    apply(COMPUTING, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)
}

/// For all threads of the process.
fn apply(calls: &[i64], others: SeccompAction, these: SeccompAction) -> bool {
    let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, vec![])).collect();
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return false };
    let program = SeccompFilter::new(rules, others, these, arch).and_then(BpfProgram::try_from);
    program.is_ok_and(|program| apply_filter_all_threads(&program).is_ok())
}
