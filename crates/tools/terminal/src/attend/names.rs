//! What INPUT may hold, and what of it is used.

use model_files::{Result, Unused, Use, expect_known, rules};
use tensors::TensorFile;

use super::roles::Role;

/// What is done with a name of INPUT for an attention of this role.
pub fn of_input(name: &str, role: Role) -> Option<Use> {
    role.mask(name).or_else(|| rules::of_input(name))
}

/// What is done with a name of INPUT that stands in WEIGHTS, where INPUT is another file.
pub fn in_weights(name: &str, role: Role) -> Option<Use> {
    match (role.mask(name), of_input(name, role)) {
        (Some(_), _) => Some(Use::Refused(
            "a mask in WEIGHTS, and INPUT is another file: put it into INPUT, or give one \
             file as both",
        )),
        (None, Some(Use::Used | Use::Harmless(_))) => {
            Some(Use::Harmless("an input's, and INPUT is another file"))
        }
        _ => None,
    }
}

/// What is done with a name of INPUT in a file that is WEIGHTS too: a mask by another name is
/// no parameter, wherever it stands, nor are lengths.
pub fn in_both(name: &str, role: Role) -> Option<Use> {
    let is_mask = name.contains("mask") && !name.contains("mask_token");
    let is_input =
        is_mask || ["lengths", "seqlens"].iter().any(|end| name.ends_with(end));
    match of_input(name, role) {
        Some(Use::Refused(why)) if is_input => Some(Use::Refused(why)),
        found => found.map(|_| Use::Used),
    }
}

/// What INPUT holds and is not used. Where it is WEIGHTS too (`is_one`), the names of modules
/// are the layer's reader's to answer for.
pub fn unused(file: &TensorFile, role: Role, is_one: bool) -> Result<Vec<Unused>> {
    let of_layer = Use::Harmless("a layer's or a model's parameter");
    let is_layers = |name: &str| {
        is_one && (name.contains('.') || name.contains("_proj_")) && !name.contains("/")
    };
    expect_known(file, "attend's INPUT", |name| match is_layers(name) {
        true => Some(of_layer),
        false => of_input(name, role),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model_files::testing::tensor_file;

    fn refused(name: &str) -> String {
        let file = tensor_file(&[("query", &[1, 1]), (name, &[1, 1])], &[]);
        unused(&file, Role::Any, false)
            .map_or_else(|error| error.to_string(), |unused| format!("{unused:?}"))
    }

    #[test]
    fn what_may_change_the_result_is_refused_by_its_meaning() {
        insta::assert_snapshot!(refused("attention_mask"), @"some.file: attention_mask: transformers' mask, where 1 or True is what may be attended to, or a mask under another name: give key_padding_mask or attn_mask, in which True is blocked");
        insta::assert_snapshot!(refused("mask"), @"some.file: mask: a mask by a name that does not say what True means: give key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked");
        insta::assert_snapshot!(refused("position_ids"), @"some.file: position_ids: positions or rotations, which are not read by this name");
        insta::assert_snapshot!(refused("lengths"), @"some.file: lengths: how many tokens are real: say it as key_padding_mask, (batch, n_kv), True = padding");
        insta::assert_snapshot!(refused("surprise"), @"some.file: surprise is not known to attend's INPUT, and may change the result: take it out of the file if it does not");
        insta::assert_snapshot!(refused("src_key_padding_mask"), @"[]");
        insta::assert_snapshot!(refused("grad.query"), @r#"[Unused { name: "grad.query", why: "a gradient" }]"#);
        insta::assert_snapshot!(refused("dropout_mask"), @"some.file: dropout_mask: weights are dropped by it, as in training, which is not done here: save the layer's input in eval()");
        insta::assert_snapshot!(refused("inputs/attn_mask"), @"some.file: inputs/attn_mask: a mask by a name that does not say what True means: give key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked");
        insta::assert_snapshot!(refused("inputs.attn_mask"), @"some.file: inputs.attn_mask: a mask by a name that does not say what True means: give key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked");
        insta::assert_snapshot!(refused("attn.mask"), @"some.file: attn.mask: a mask by a name that does not say what True means: give key_padding_mask, (batch, n_kv), or attn_mask, (n_q, n_kv), in which True is blocked");
        insta::assert_snapshot!(refused("attn.0"), @r#"[Unused { name: "attn.0", why: "what a layer gave, not what it gets" }]"#);
        insta::assert_snapshot!(refused("expected_lengths"), @"some.file: expected_lengths: how many tokens are real: say it as key_padding_mask, (batch, n_kv), True = padding");
        insta::assert_snapshot!(refused("f32/output"), @r#"[Unused { name: "f32/output", why: "of another precision: the names that are used have no /" }]"#);
    }
}
