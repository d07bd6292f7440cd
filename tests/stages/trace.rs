//! The shapes of one pass, step by step.

use fused_heads::FusedAttention;
use per_head::PerHeadAttention;

use stages::cases::{layer, tokens};

#[test]
fn the_trace_of_source_003() {
    let (layer, x) = (layer(256, 8, 1), tokens(30, 256, 2));
    let per_head = PerHeadAttention::new(layer.clone()).trace(&x).unwrap();
    let fused = FusedAttention::new(&layer).trace(&x).unwrap();
    insta::assert_snapshot!("trace_per_head", per_head);
    insta::assert_snapshot!("trace_fused", fused);
}
