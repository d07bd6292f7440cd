//! How much memory is asked for at once.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static BEGAN: AtomicUsize = AtomicUsize::new(0);

/// No reader of these files needs so much: it gets none, and the program ends.
const LIMIT: usize = 2 << 30;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator with what it was given; the counting
// beside it asks for no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        if now > LIMIT {
            NOW.fetch_sub(layout.size(), Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises on the layout are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `at` is from `alloc` above, which is the system's.
        unsafe { System.dealloc(at, layout) }
    }
}

/// From here on the most counts.
pub fn begin() {
    let now = NOW.load(Ordering::Relaxed);
    BEGAN.store(now, Ordering::Relaxed);
    MOST.store(now, Ordering::Relaxed);
}

/// The most that there was at once, beside what there was at the beginning.
pub fn most() -> usize {
    MOST.load(Ordering::Relaxed).saturating_sub(BEGAN.load(Ordering::Relaxed))
}
