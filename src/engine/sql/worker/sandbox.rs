//! What the operating system forbids a worker. Each layer holds without the others.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    Scope, path_beneath_rules,
};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;

/// Address space beyond the engine's own limit: the program, its stacks, and what the engine does not count.
const OVERHEAD: u64 = 1 << 30;

/// For all of a worker's life: no new rights, no core dumps, and no life after the server's.
pub fn at_start() -> nix::Result<()> {
    prctl::set_no_new_privs()?;
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    // When memory gets short, a worker is what the kernel should take. Where that cannot be said, nothing is lost.
    let _unsaid = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

/// Bounds memory and processor time. The engine's own limits do not hold inside functions and the planner.
pub fn bound(memory_mb: u64, cpu_seconds: u64) -> nix::Result<()> {
    let memory = (memory_mb << 20) + OVERHEAD;
    setrlimit(Resource::RLIMIT_AS, memory, memory)?;
    setrlimit(Resource::RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
}

/// No file may grow beyond so many bytes from here on; zero for tasks that only read.
pub fn bound_files(bytes: u64) -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_FSIZE, bytes, bytes)
}

/// No further process or thread; call it when all threads run. (Root is exempt from this limit.)
pub fn forbid_processes() -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_NPROC, 0, 0)
}

/// Confines this thread, and those that it starts, to reading `readable` files and to everything below `writable`
/// folders; no network. Answers whether the kernel enforces it.
pub fn confine(readable: &[&Path], writable: &[&Path]) -> bool {
    confined(readable, writable).unwrap_or(false)
}

fn confined(readable: &[&Path], writable: &[&Path]) -> Result<bool, landlock::RulesetError> {
    let abi = ABI::V6;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(abi)))?
        .add_rules(path_beneath_rules(writable, AccessFs::from_all(abi)))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
