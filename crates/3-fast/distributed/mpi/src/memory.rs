//! How much memory a process has come to use: as Linux counts it.

use std::fs;

/// The memory of this process in bytes: now (`VmRSS`), or the most since the last
/// [`forget`] (`VmHWM`); `None` where there is no Linux.
pub fn bytes(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line =
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Forgets the most so far.
pub fn forget() {
    // Where it cannot be written, the most so far stays, and is too large: never too small.
    let _ = fs::write("/proc/self/clear_refs", "5");
}
