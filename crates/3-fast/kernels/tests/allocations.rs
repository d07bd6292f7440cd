//! A forward pass allocates nothing once one of its size has been made.

#![expect(unsafe_code, reason = "an allocator is")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
use kernels::{Inputs, Packed, Rung};

struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is done by the system's allocator, as it asks for.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps what this asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps what this asks for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_second_pass_of_a_size_allocates_nothing() {
    let rng = &mut Rng::seed_from_u64(1);
    let parameters = LayerParameters::random(Dims::new(64, 4).unwrap(), true, rng);
    let x: Matrix<f32> = random_matrix(300, 64, 1.0, rng);
    let (mut packed, mut out) = (Packed::new(&parameters), x.clone());
    let masks = [Mask::Causal];
    let inputs = Inputs::self_attention(2, &x, &masks);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // rayon's own queue may grow while a thread is kept waiting, so not every batch of
    // passes is free of allocations. If a pass allocated, none would be.
    let batches: Vec<usize> = pool.install(|| {
        let mut batch = |_| {
            let before = ALLOCATED.load(Ordering::Relaxed);
            for _ in 0..20 {
                packed.forward(&inputs, &mut out).unwrap();
            }
            ALLOCATED.load(Ordering::Relaxed) - before
        };
        (0..10).map(&mut batch).collect()
    });
    println!("bytes allocated by batches of 20 passes: {batches:?}");
    assert!(batches.contains(&0), "{batches:?}");
}
