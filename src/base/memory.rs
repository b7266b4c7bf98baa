//! How much memory this process may use.

use std::path::Path;

/// Memory in bytes that the machine has, or that the container may use when that is less; nothing when neither says.
pub fn available() -> Option<u64> {
    let limit = |path: &str| std::fs::read_to_string(Path::new(path)).ok()?.trim().parse::<u64>().ok();
    let container = limit("/sys/fs/cgroup/memory.max").or_else(|| limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    [container, machine].into_iter().flatten().min()
}

/// The first figure of Linux's `meminfo`, which is in kibibytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_in_kibibytes() {
        assert_eq!(total("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2 << 20));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert!(available().is_some_and(|bytes| bytes > 64 << 20), "this machine has memory");
    }
}
