//! What a case may hold beside an LSTM and its input.

use model_files::{Result, Rule, TensorFile, Unused, Use, first_rule, says_no};

const OUTPUT: Use = Use::Harmless("what an LSTM gave, not what it gets");
const PACKED: Use = Use::Refused(
    "part of a PackedSequence: give input (batch, n, d_in) and lengths, (batch)",
);
const MASK: Use = Use::Refused(
    "a mask, which no LSTM has: say how long each sequence is as lengths, (batch)",
);
const PROJECTED: Use = Use::Refused(
    "made with proj_size, this LSTM projects its hidden state, which is not computed here",
);
const STATE: Use =
    Use::Refused("a state to begin with, by another name: call it h_0 and c_0");

const RULES: &[Rule] = &[
    Rule("input", Use::Used),
    Rule("h_0", Use::Used),
    Rule("c_0", Use::Used),
    Rule("lengths", Use::Used),
    Rule("output", OUTPUT),
    Rule("h_n", OUTPUT),
    Rule("c_n", OUTPUT),
    Rule("expected*", OUTPUT),
    Rule("grad*", Use::Harmless("a gradient")),
    Rule("*weight_hr_l*", PROJECTED),
    Rule("batch_sizes", PACKED),
    Rule("*sorted_indices", PACKED),
    Rule("data", PACKED),
    Rule("*mask*", MASK),
    Rule("hx", STATE),
    Rule("cx", STATE),
    Rule("h0", STATE),
    Rule("c0", STATE),
];

const METADATA: &[(&str, &str)] = &[
    ("batch_first", "and the batch is read as the first dimension of input"),
    ("proj_size", "and a hidden state is not projected here"),
    ("lengths", "and lengths are read from a tensor of that name"),
];

/// What a case holds and is not used; `prefix` is that of its LSTM, in which only the
/// parameters that `is_parameter` knows may stand.
///
/// # Errors
/// [`Unsupported`](model_files::Error::Unsupported), [`Unknown`](model_files::Error::Unknown)
/// and [`Metadata`](model_files::Error::Metadata) for what would change the result.
pub(super) fn unused(
    file: &TensorFile,
    prefix: &str,
    is_parameter: impl Fn(&str) -> bool,
) -> Result<Vec<Unused>> {
    file.expect_metadata(METADATA, |key, text| says_no(text) != (key == "batch_first"))?;
    file.expect_known("an LSTM's case", |name| match name.strip_prefix(prefix) {
        Some(local) if is_parameter(local) => Some(Use::Used),
        _ => first_rule(RULES, name).or_else(|| {
            let is_other = !prefix.is_empty() && !name.starts_with(prefix);
            (is_other && name.contains('.'))
                .then_some(Use::Harmless("another module's parameter"))
        }),
    })
}
