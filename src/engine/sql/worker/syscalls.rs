//! Which system calls a worker may make (seccomp). Two filters, both in force: one from the start, which ends the
//! process that tries to become another program, to reach the network, or to look into, signal or hinder another
//! process; one from the moment that a query's tables are open, which lets it compute, and answer, and nothing else.
//! Both end it when it makes a call in the manner of another architecture, whose numbers they do not know.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter_all_threads, sock_filter,
};

/// Which calls a filter means: these numbers, where one of the rules fits the arguments, or always when there is none.
type Calls = BTreeMap<i64, Vec<SeccompRule>>;

/// From here on numbers are those of x32: 64-bit registers, 32-bit pointers, and under the name of x86-64
/// (`__X32_SYSCALL_BIT` in `asm/unistd.h`). No architecture has calls of its own there.
const X32: u32 = 0x4000_0000;

/// Loads a word of `struct seccomp_data` (`BPF_LD | BPF_W | BPF_ABS`), whose first is the number of the call.
const LOAD: u16 = 0x20;
/// Skips so many steps, by whether what was loaded is at least a value (`BPF_JMP | BPF_JGE | BPF_K`).
const AT_LEAST: u16 = 0x35;
/// Ends with a verdict (`BPF_RET | BPF_K`).
const RETURN: u16 = 0x06;

/// `fchmodat2`, everywhere; libc does not name it on every architecture.
const FCHMODAT2: i64 = 452;

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
    libc::SYS_pidfd_send_signal,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
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
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
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
    libc::SYS_sysinfo,
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
pub(super) fn deny_dangerous() -> bool {
    apply(dangerous(std::process::id()))
}

/// The second filter. Answers whether the kernel enforces it.
pub(super) fn allow_computing_only() -> bool {
    apply(computing(std::process::id()))
}

/// Ends the process at a dangerous call, and at one that signals another process or changes its limits.
fn dangerous(own: u32) -> Result<BpfProgram, BackendError> {
    let own = u64::from(own);
    let mut calls: Calls = DANGEROUS.iter().map(|call| (*call, vec![])).collect();
    calls.insert(libc::SYS_kill, vec![rule(&[(0, Dword, Ne, own)])?]);
    calls.insert(libc::SYS_tgkill, vec![rule(&[(0, Dword, Ne, own)])?]);
    // Zero is the process itself.
    calls.insert(libc::SYS_prlimit64, vec![rule(&[(0, Dword, Ne, 0), (0, Dword, Ne, own)])?]);
    program(calls, SeccompAction::Allow, SeccompAction::KillProcess)
}

/// Lets the process compute, end by a signal of its own, read its own limits and set that of its processor time. Other
/// calls fail as if a right were missing, so that a library that tries one goes on.
fn computing(own: u32) -> Result<BpfProgram, BackendError> {
    let own = u64::from(own);
    let mut calls: Calls = COMPUTING.iter().map(|call| (*call, vec![])).collect();
    calls.insert(libc::SYS_kill, vec![rule(&[(0, Dword, Eq, own)])?]);
    calls.insert(libc::SYS_tgkill, vec![rule(&[(0, Dword, Eq, own)])?]);
    let limits = [
        rule(&[(0, Dword, Eq, 0), (2, Qword, Eq, 0)])?,
        rule(&[(0, Dword, Eq, 0), (1, Dword, Eq, u64::from(libc::RLIMIT_CPU))])?,
    ];
    calls.insert(libc::SYS_prlimit64, limits.into());
    program(calls, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)
}

/// Fits a call whose arguments (by place, from 0) all compare so.
fn rule(arguments: &[(u8, SeccompCmpArgLen, SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions = arguments.iter().cloned();
    let conditions =
        conditions.map(|(place, length, compare, value)| SeccompCondition::new(place, length, compare, value));
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

fn program(calls: Calls, others: SeccompAction, these: SeccompAction) -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let checked = SeccompFilter::new(calls, others, these, arch).and_then(BpfProgram::try_from)?;
    // Before what the crate makes, which looks at the architecture: x32 has that of x86-64.
    let mut program = vec![
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: AT_LEAST, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_KILL_PROCESS },
    ];
    program.extend(checked);
    Ok(program)
}

/// For all threads of the process.
fn apply(program: Result<BpfProgram, BackendError>) -> bool {
    program.is_ok_and(|program| apply_filter_all_threads(&program).is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    const OWN: u32 = 100;
    const OTHER: u64 = 101;
    /// `AUDIT_ARCH_X86_64`, `AUDIT_ARCH_AARCH64` and `AUDIT_ARCH_I386` in `linux/audit.h`.
    const HERE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
    const I386: u32 = 0x4000_0003;

    #[derive(Debug, PartialEq)]
    enum Verdict {
        Allowed,
        Denied,
        Killed,
    }
    use Verdict::{Allowed, Denied, Killed};

    /// What a filter says of a call: the kernel's interpreter, for the instructions that filters here are made of.
    fn verdict(program: &[sock_filter], arch: u32, call: i64, arguments: [u64; 3]) -> Verdict {
        let mut data = vec![u32::try_from(call).unwrap(), arch, 0, 0];
        data.extend(arguments.iter().flat_map(|value| [*value as u32, (*value >> 32) as u32]));
        let (mut loaded, mut at) = (0_u32, 0_usize);
        loop {
            let sock_filter { code, jt, jf, k } = program[at].clone();
            at += 1;
            let jumps = match code {
                LOAD => {
                    loaded = data[k as usize / 4];
                    continue;
                }
                0x05 => {
                    at += k as usize;
                    continue;
                }
                0x15 => loaded == k,
                0x25 => loaded > k,
                AT_LEAST => loaded >= k,
                RETURN if k == libc::SECCOMP_RET_ALLOW => return Allowed,
                RETURN if k == libc::SECCOMP_RET_KILL_PROCESS => return Killed,
                RETURN if k == libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs() => return Denied,
                other => panic!("{other:#x} {k:#x}"),
            };
            at += usize::from(if jumps { jt } else { jf });
        }
    }

    #[test]
    fn a_worker_signals_and_limits_nobody_but_itself() {
        let (first, second) = (dangerous(OWN).unwrap(), computing(OWN).unwrap());
        let own = u64::from(OWN);
        // As 32 bits: everybody, the group of this one, and the worker's number under other bits that nobody reads.
        let (all, group, padded) = (u64::from(u32::MAX), u64::from(OWN.wrapping_neg()), own | 1 << 40);
        let (cpu, files) = (u64::from(libc::RLIMIT_CPU), u64::from(libc::RLIMIT_NOFILE));
        for (call, arguments, expected) in [
            (libc::SYS_kill, [own, 9, 0], [Allowed, Allowed]),
            (libc::SYS_kill, [padded, 9, 0], [Allowed, Allowed]),
            (libc::SYS_kill, [OTHER, 9, 0], [Killed, Denied]),
            (libc::SYS_kill, [OTHER, 0, 0], [Killed, Denied]),
            (libc::SYS_kill, [0, 9, 0], [Killed, Denied]),
            (libc::SYS_kill, [all, 9, 0], [Killed, Denied]),
            (libc::SYS_kill, [group, 9, 0], [Killed, Denied]),
            (libc::SYS_tgkill, [own, 107, 6], [Allowed, Allowed]),
            (libc::SYS_tgkill, [OTHER, OTHER, 6], [Killed, Denied]),
            (libc::SYS_tkill, [OTHER, 6, 0], [Killed, Denied]),
            (libc::SYS_rt_sigqueueinfo, [OTHER, 6, 8], [Killed, Denied]),
            (libc::SYS_pidfd_send_signal, [3, 6, 0], [Killed, Denied]),
            (libc::SYS_setpriority, [0, OTHER, 19], [Killed, Denied]),
            (libc::SYS_prlimit64, [0, files, 0], [Allowed, Allowed]),
            (libc::SYS_prlimit64, [0, cpu, 8], [Allowed, Allowed]),
            (libc::SYS_prlimit64, [0, files, 8], [Allowed, Denied]),
            (libc::SYS_prlimit64, [0, files, 1 << 32], [Allowed, Denied]),
            (libc::SYS_prlimit64, [own, files, 8], [Allowed, Denied]),
            (libc::SYS_prlimit64, [OTHER, cpu, 8], [Killed, Denied]),
            (libc::SYS_prlimit64, [OTHER, cpu, 0], [Killed, Denied]),
            (libc::SYS_execve, [8, 8, 8], [Killed, Denied]),
            (libc::SYS_fchmod, [8, 0, 0], [Killed, Denied]),
            (FCHMODAT2, [8, 8, 0], [Killed, Denied]),
            (libc::SYS_fchown, [8, 8, 8], [Killed, Denied]),
            (libc::SYS_openat, [8, 8, 8], [Allowed, Denied]),
            (libc::SYS_read, [0, 8, 8], [Allowed, Allowed]),
        ] {
            let said = [&first, &second].map(|program| verdict(program, HERE, call, arguments));
            assert_eq!(said, expected, "{call} {arguments:?}");
        }
    }

    #[test]
    fn a_call_in_the_manner_of_another_architecture_ends_the_worker() {
        for program in [dangerous(OWN).unwrap(), computing(OWN).unwrap()] {
            // In the numbers of x32 `read` is 0, `execve` 520 and `ptrace` 521.
            for call in [0, 520, 521, libc::SYS_socket] {
                assert_eq!(verdict(&program, HERE, call | i64::from(X32), [0; 3]), Killed, "{call}");
                assert_eq!(verdict(&program, I386, call, [0; 3]), Killed, "{call}");
            }
        }
    }

    /// Set for a process that lays the first filter on itself: what it then does.
    const ATTEMPT: &str = "DRAGOMAN_TEST_ATTEMPT";

    #[test]
    fn the_kernel_ends_a_worker_that_reaches_for_another_process() {
        // The child is this very test in a process of its own.
        if let Some(attempt) = std::env::var_os(ATTEMPT) {
            assert!(deny_dangerous());
            // Harmless where nothing holds it back: no signal, and the limit that the parent has.
            let of = (attempt != "own").then(Pid::parent).unwrap_or_else(Pid::this);
            match attempt.to_str() {
                Some("prlimit") => {
                    let core = rustix::process::Resource::Core;
                    let limit = rustix::process::getrlimit(core);
                    rustix::process::prlimit(rustix::process::Pid::from_raw(of.as_raw()), core, limit).unwrap();
                }
                _ => kill(of, None).unwrap(),
            }
            std::process::exit(0);
        }
        let name = "engine::sql::worker::syscalls::tests::the_kernel_ends_a_worker_that_reaches_for_another_process";
        for (attempt, signal) in [("own", None), ("kill", Some(Signal::SIGSYS)), ("prlimit", Some(Signal::SIGSYS))] {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            let output = child.args(["--exact", name, "--nocapture"]).env(ATTEMPT, attempt).output().unwrap();
            assert_eq!(output.status.signal(), signal.map(|signal| signal as i32), "{attempt}: {output:?}");
            assert!(signal.is_some() || output.status.success(), "{attempt}: {output:?}");
        }
    }
}
