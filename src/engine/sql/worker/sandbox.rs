//! What the operating system forbids a worker. Each layer holds without the others, and none needs a right that an
//! ordinary user in a container lacks.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    Scope, path_beneath_rules,
};
use nix::sys::prctl;
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::signal::Signal;

use super::syscalls;
use crate::engine::sql::wire::Confinement;

/// Address space beyond the engine's own limit: the program, its stacks, and what the engine does not count.
const OVERHEAD: u64 = 1 << 30;

/// Kernel interface of Landlock that is asked for; an older kernel enforces what it knows.
const LANDLOCK: ABI = ABI::V6;

/// For all of a worker's life: no new rights, no core dumps, no life after the server's, no network, no programs.
/// Answers what the kernel enforces.
pub(super) fn at_start() -> nix::Result<Confinement> {
    // The link by which it was started says nothing to who looks at processes.
    prctl::set_name(c"dragoman")?;
    prctl::set_no_new_privs()?;
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    // When memory gets short, a worker is what the kernel should take. Where that cannot be said, nothing is lost.
    let _unsaid = std::fs::write("/proc/self/oom_score_adj", "1000");
    let network = || -> Result<bool, landlock::RulesetError> {
        let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        let rules = rules.handle_access(AccessNet::from_all(LANDLOCK))?.scope(Scope::from_all(LANDLOCK))?;
        let rules = rules.handle_access(AccessFs::Execute)?.create()?.restrict_self()?;
        Ok(rules.ruleset != RulesetStatus::NotEnforced)
    };
    Ok(Confinement { landlock: network().unwrap_or(false), seccomp: syscalls::deny_dangerous() })
}

/// Bounds memory for the rest of the worker's life. The engine's own limit does not hold inside functions and the
/// planner.
pub(super) fn bound_memory(megabytes: u64) -> nix::Result<()> {
    let memory = (megabytes << 20) + OVERHEAD;
    setrlimit(Resource::RLIMIT_AS, memory, memory)
}

/// Bounds processor time from here on, of all threads together.
pub(super) fn bound_processor(seconds: u64) -> nix::Result<()> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let spent = usage.user_time().tv_sec() + usage.system_time().tv_sec();
    let (_, most) = getrlimit(Resource::RLIMIT_CPU)?;
    setrlimit(Resource::RLIMIT_CPU, (spent.unsigned_abs() + 1 + seconds).min(most), most)
}

/// No file may grow beyond so many bytes from here on; zero for tasks that only read.
pub(super) fn bound_files(bytes: u64) -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_FSIZE, bytes, bytes)
}

/// Once the tables are open and all threads run: nothing else is opened, started or connected. (Root is exempt from
/// the limit of processes, but not from the filter.)
///
/// # Errors
/// The kernel does not enforce now what it did at the start.
pub(super) fn close(confinement: Confinement) -> io::Result<()> {
    setrlimit(Resource::RLIMIT_NPROC, 0, 0)?;
    if !syscalls::allow_computing_only() && confinement.seccomp {
        return Err(io::Error::other("the second filter of system calls cannot be laid"));
    }
    Ok(())
}

/// Confines this thread, and those that it starts, to reading `readable` files and to everything below `writable`
/// folders.
pub(super) fn confine(readable: &[&Path], writable: &[&Path]) {
    let files = || -> Result<(), landlock::RulesetError> {
        let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        let rules = rules.handle_access(AccessFs::from_all(LANDLOCK))?.create()?;
        let rules = rules.add_rules(path_beneath_rules(readable, AccessFs::from_read(LANDLOCK)))?;
        rules.add_rules(path_beneath_rules(writable, AccessFs::from_all(LANDLOCK)))?.restrict_self()?;
        Ok(())
    };
    // Where the kernel has no Landlock the server said so at the worker's start.
    let _unenforced = files();
}
