//! Which attention of a larger layer this is, and so which masks are its own.

use model_files::{FoundLayer, Naming, Use, layers_in};
use tensors::TensorFile;

/// Which attention of `nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer` a layer
/// is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nobody knows: a layer by itself.
    Any,
    /// Of tokens to each other, in an encoder or where it is not known in what.
    Itself,
    /// Of a decoder's tokens to each other.
    Decoder,
    /// Of a decoder's tokens to those of another sequence; whether its self-attention is in
    /// the same file.
    Cross { is_beside_self: bool },
}

/// By what a mask's name begins: whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Any,
    Source,
    Target,
    Memory,
}

/// Names of masks in PyTorch's layers, and the mask of `nn.MultiheadAttention` that each is
/// passed on as. True blocks in all of them.
pub const MASKS: [(&str, &[&str]); 2] = [
    (
        "key_padding_mask",
        &[
            "key_padding_mask",
            "src_key_padding_mask",
            "tgt_key_padding_mask",
            "memory_key_padding_mask",
        ],
    ),
    ("attn_mask", &["attn_mask", "src_mask", "tgt_mask", "memory_mask"]),
];

const OF_CROSS: Use = Use::Harmless(
    "the mask of multihead_attn, the layer's attention to another sequence, and not of this",
);
const OF_SELF: Use = Use::Harmless(
    "the mask of self_attn, the layer's attention to its own tokens, and not of this",
);
const NOT_ITSELF: Use = Use::Refused(
    "the mask of an attention to another sequence (memory), which this layer is not: leave \
     it out, or call it key_padding_mask or attn_mask if it is this layer's",
);
const NOT_CROSS: Use = Use::Refused(
    "the mask of an attention of tokens to each other, and this layer attends to another \
     sequence: leave it out, or call it memory_key_padding_mask or memory_mask if it is of \
     that sequence's tokens",
);
const NOT_DECODER: Use = Use::Refused(
    "the mask of an encoder, and this layer is a decoder's self-attention: leave it out, or \
     call it tgt_key_padding_mask or tgt_mask if it is this layer's",
);

impl Role {
    /// By the last module's name that stands before those of its tensors.
    pub fn of(file: &TensorFile, layer: &FoundLayer) -> Self {
        const CROSS: [&str; 6] = [
            "multihead_attn",
            "cross_attn",
            "cross_attention",
            "crossattention",
            "encoder_attn",
            "encoder_attention",
        ];
        const ITSELF: [&str; 2] = ["self_attn", "self_attention"];
        if layer.naming == Naming::Bert {
            return Self::Itself;
        }
        let path = layer.prefix.trim_end_matches('.');
        let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
        let is_beside = |names: &[&str]| {
            let parent =
                if parent.is_empty() { String::new() } else { format!("{parent}.") };
            let prefixes = names.iter().map(|name| format!("{parent}{name}."));
            let layers = layers_in(file);
            prefixes.into_iter().any(|prefix| layers.iter().any(|it| it.prefix == prefix))
        };
        match last {
            last if CROSS.contains(&last) => {
                Self::Cross { is_beside_self: is_beside(&ITSELF) }
            }
            last if ITSELF.contains(&last) && is_beside(&CROSS) => Self::Decoder,
            last if ITSELF.contains(&last) => Self::Itself,
            _ => Self::Any,
        }
    }

    /// What is done with the mask of this name; nothing if it is no mask's.
    pub fn mask(self, name: &str) -> Option<Use> {
        let is_mask = MASKS.iter().any(|(_, names)| names.contains(&name));
        is_mask.then(|| match (self, owner(name)) {
            (_, Owner::Any) | (Self::Any, _) => Use::Used,
            (Self::Itself, Owner::Source | Owner::Target) => Use::Used,
            (Self::Itself, Owner::Memory) => NOT_ITSELF,
            (Self::Decoder, Owner::Target) => Use::Used,
            (Self::Decoder, Owner::Memory) => OF_CROSS,
            (Self::Decoder, Owner::Source) => NOT_DECODER,
            (Self::Cross { .. }, Owner::Memory) => Use::Used,
            (Self::Cross { is_beside_self: true }, Owner::Target) => OF_SELF,
            (Self::Cross { .. }, Owner::Source | Owner::Target) => NOT_CROSS,
        })
    }
}

/// Whether two masks can be of one attention.
pub fn are_of_one(a: &str, b: &str) -> bool {
    let (a, b) = (owner(a), owner(b));
    a == b || a == Owner::Any || b == Owner::Any
}

fn owner(name: &str) -> Owner {
    match name.split('_').next() {
        Some("src") => Owner::Source,
        Some("tgt") => Owner::Target,
        Some("memory") => Owner::Memory,
        _ => Owner::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model_files::find_layer;
    use model_files::testing::tensor_file;

    #[test]
    fn a_mask_is_of_the_attention_that_its_name_says() {
        let of = |prefixes: &[&str]| {
            let names: Vec<String> =
                prefixes.iter().map(|it| format!("{it}in_proj_weight")).collect();
            let tensors: Vec<(&str, &[usize])> =
                names.iter().map(|name| (name.as_str(), &[1, 1][..])).collect();
            let file = tensor_file(&tensors, &[]);
            Role::of(&file, &find_layer(&file, Some(prefixes[0])).unwrap())
        };
        let cross = |is_beside_self| Role::Cross { is_beside_self };
        assert_eq!(of(&[""]), Role::Any);
        assert_eq!(of(&["layers.0.attn."]), Role::Any);
        assert_eq!(of(&["layers.0.self_attn."]), Role::Itself);
        assert_eq!(of(&["a.self_attn.", "b.multihead_attn."]), Role::Itself);
        assert_eq!(of(&["a.self_attn.", "a.multihead_attn."]), Role::Decoder);
        assert_eq!(of(&["multihead_attn.", "self_attn."]), cross(true));
        assert_eq!(of(&["multihead_attn."]), cross(false));

        let is_used = |role: Role, name| role.mask(name) == Some(Use::Used);
        assert!(is_used(Role::Any, "memory_mask") && is_used(Role::Any, "tgt_mask"));
        assert!(is_used(Role::Itself, "src_mask") && is_used(Role::Itself, "tgt_mask"));
        assert!(is_used(cross(true), "memory_key_padding_mask"));
        assert!(is_used(cross(true), "key_padding_mask"));
        assert_eq!(Role::Itself.mask("memory_mask"), Some(NOT_ITSELF));
        assert_eq!(Role::Decoder.mask("memory_mask"), Some(OF_CROSS));
        assert_eq!(Role::Decoder.mask("src_key_padding_mask"), Some(NOT_DECODER));
        assert_eq!(cross(true).mask("tgt_key_padding_mask"), Some(OF_SELF));
        assert_eq!(cross(false).mask("tgt_key_padding_mask"), Some(NOT_CROSS));
        assert_eq!(cross(true).mask("src_key_padding_mask"), Some(NOT_CROSS));
        assert_eq!(Role::Any.mask("mask"), None);
    }
}
