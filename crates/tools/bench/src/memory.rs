//! How much memory there is, and how much a pass takes: the same way on all sides.

use std::fs;
use std::sync::{Mutex, PoisonError};

/// What a process may take before the machine has none left; `None` where the system
/// does not say (it is asked on Linux alone).
pub fn available() -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// The most memory that was resident while `run` ran, beyond what was before; `None`
/// where the system does not say.
pub fn peak<T>(run: impl FnOnce() -> T) -> (T, Option<u64>) {
    // The mark is the whole process's.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // From here on VmHWM is the largest VmRSS since.
    let marked = fs::write("/proc/self/clear_refs", "5").ok();
    let before = status("VmRSS:");
    let outcome = run();
    let peak = || Some(status("VmHWM:")?.saturating_sub(before?));
    (outcome, marked.and_then(|()| peak()))
}

/// With these in the environment of a process that uses glibc's memory, it gives back at
/// once what it frees, so that the next pass is not served from the remains of the last.
pub const GIVE_BACK: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536")];

fn status(name: &str) -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, name)
}

/// A line `name   number kB`, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_in_bytes() {
        let text = "MemTotal:  8 kB\nMemAvailable:   24000 kB\n";
        assert_eq!(field(text, "MemAvailable:"), Some(24_576_000));
        assert_eq!(field(text, "VmRSS:"), None);
    }

    /// Other tests of this process take memory meanwhile, so it may be more.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_taken_is_seen_though_it_was_given_back() {
        let taken = 64 << 20;
        let (sum, peak) = peak(|| vec![1u8; taken].iter().map(|&x| x as usize).sum());
        let _: usize = sum;
        // Some containers do not allow the mark.
        assert!(peak.is_none_or(|peak| peak > taken as u64 / 2), "{peak:?}");
    }
}
