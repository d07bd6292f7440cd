//! What is refused, by its name.

use super::*;

#[test]
fn a_gguf_file_of_another_kind_is_refused() {
    let other = GgufWriter::default().setting("general.architecture", 8, &text("mamba"));
    insta::assert_snapshot!(refused(other), @r#"model.gguf: general.architecture is "mamba", expected "llama", "qwen2", "qwen3", "gemma2" or "gemma3""#);
    insta::assert_snapshot!(refused(GgufWriter::default()), @"model.gguf: general.architecture is missing, expected a text");
    let adapter = llama().setting("general.type", 8, &text("adapter"));
    insta::assert_snapshot!(refused(adapter), @r#"model.gguf: general.type is "adapter", expected "model""#);
    insta::assert_snapshot!(refused(llama().whole("llama.expert_count", 8)), @"model.gguf: llama.expert_count is 8, expected 0: one feed-forward layer for all tokens");
    insta::assert_snapshot!(refused(llama().whole("llama.rope.dimension_count", 5)), @"model.gguf: its sizes make no layer: 5 entries of a head cannot be rotated: it must be an even number above 0");
}

#[test]
fn what_nobody_knows_is_refused_by_its_name() {
    insta::assert_snapshot!(refused(llama().float("llama.attention.clamp_kqv", 8.0)), @"model.gguf: llama.attention.clamp_kqv is 8: what that changes is not known here");
    insta::assert_snapshot!(refused(llama().whole("qwen2.block_count", 3)), @"model.gguf: qwen2.block_count is 3: what that changes is not known here");
    insta::assert_snapshot!(refused(llama().whole("a\u{1b}[31m\u{202e}b", 3)), @r#"model.gguf: a\u{1b}[31m\u{202e}b is 3: what that changes is not known here"#);
    for name in
        ["blk.0.attn_q_norm.weight", "blk.3.attn_q.weight", "blk.00.attn_q.weight"]
    {
        let extra = refused(llama().floats(name, &[1], &[0.0]));
        assert_eq!(
            extra,
            format!("model.gguf: no part of the model is read from {name}")
        );
    }
    insta::assert_snapshot!(refused(llama().floats("blk.1.attn_q.bias", &[24], &[0.0; 24])), @"model.gguf: no part of the model is read from blk.1.attn_q.bias");
    insta::assert_snapshot!(refused(sized("qwen2", &[("attention.head_count_kv", 1)]).floats("rope_freqs.weight", &[3], &[2.0; 3])), @"model.gguf: no part of the model is read from rope_freqs.weight");
}

#[test]
fn sizes_that_the_file_does_not_have_ask_for_no_memory() {
    let huge = u32::MAX;
    let of = |key, size| refused(sized("llama", &[(key, size)]));
    insta::assert_snapshot!(of("block_count", huge), @"model.gguf: llama.block_count is 4294967295, expected no more layers than tensors");
    insta::assert_snapshot!(of("embedding_length", huge - 3), @"model.gguf: token_embd.weight has shape [97, 24], expected [97, 4294967292]");
    insta::assert_snapshot!(of("feed_forward_length", huge), @"model.gguf: blk.0.ffn_up.weight has shape [40, 24], expected [4294967295, 24]");
    insta::assert_snapshot!(of("vocab_size", huge), @"model.gguf: token_embd.weight has shape [97, 24], expected [4294967295, 24]");
    insta::assert_snapshot!(refused(llama().whole("llama.rope.dimension_count", huge - 1)), @"model.gguf: llama.rope.dimension_count is 4294967294, expected no more than a head's entries");
    insta::assert_snapshot!(refused(llama().whole("llama.attention.key_length", huge)), @"model.gguf: blk.0.attn_q.weight has shape [24, 24], expected [17179869180, 24]");
    let long = huge.to_le_bytes().repeat(2);
    insta::assert_snapshot!(refused(llama().setting("llama.attention.value_length", 10, &long)), @"model.gguf: its sizes make no layer: the width of all heads, n_heads 4 × d_v 18446744073709551615, is more than this machine can count");
}
