//! Attention itself: one head, 48 queries, all of their keys, block after block.

use std::iter::once;
use std::ops::Range;

use attention::Mask;
use pulp::{Simd, WithSimd};

use super::memory::Scratch;
use super::panels::rows_of;
use super::units::Queue;
use super::weights::rows_per_head;
use crate::block_mask;
use crate::exp2::exp2;
use crate::tile::{COLUMNS, ROWS, Segment, tile, vectors};
use crate::{Inputs, Lengths};
use attention::Dims;

/// Panels of 48 keys a block: its scores are to stay in the nearest caches.
const PANELS: usize = 4;

/// The most vectors that 48 lanes are.
const MOST_VECTORS: usize = ROWS;
