//! What a case may hold beside an LSTM and its input.

use model_files::{
    Claim, Fact, Result, Rule, Unused, Use, expect_known, expect_metadata, first_rule,
};
use tensors::TensorFile;

use super::Lstm;
use attention::Real;

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

const GRADIENT: Use = Use::Harmless("a gradient");
const DROPPED: Use = Use::Refused(
    "weight dropout (AWD-LSTM): this is the weight that was trained, and the one without \
     _raw is what dropout made of it: save this under that name",
);
const PARTS: Use = Use::Refused(
    "a part of an LSTM's weight or something added to it (a norm, pruning, an adapter, a \
     scale), beside the LSTM: save each weight as one tensor",
);

const INPUT: Use = Use::Refused(
    "an input's name behind a module's: what is read is input, h_0, c_0 and lengths alone",
);

const RULES: &[Rule] = &[
    Rule("input h_0 c_0 lengths", Use::Used),
    Rule(
        "output h_n c_n expected expected.output expected.h_n expected.c_n \
         expected_output expected_h_n expected_c_n",
        OUTPUT,
    ),
    Rule("grad.* grad_input grad_output", GRADIENT),
    Rule("*weight_hr_l*", PROJECTED),
    Rule("*weight_hh_l#*_raw *weight_ih_l#*_raw", DROPPED),
    Rule("batch_sizes *sorted_indices data", PACKED),
    Rule("*mask*", MASK),
    Rule("hx cx h0 c0", STATE),
];

/// What stands outside of the LSTM's module and is of its weights all the same.
const OUTSIDE: &[Rule] = &[
    Rule("*weight_ih* *weight_hh* *bias_ih* *bias_hh* *lora_*", PARTS),
    Rule("*.input *.h_0 *.c_0 *.hx *.cx *.lengths *.seq_lens *.batch_sizes", INPUT),
    Rule("*parametrizations*", PARTS),
];

/// Whether metadata says what this LSTM is, and how its case is read.
fn is_so<T: Real>(claim: &Claim<'_>, lstm: &Lstm<T>) -> Option<bool> {
    let both_ways = lstm.n_directions() == 2;
    Some(match claim.fact {
        Fact::Layers => claim.is_number(lstm.layers().len()),
        Fact::Width => claim.is_number(lstm.hidden()),
        Fact::InputWidth => claim.is_number(lstm.d_in()),
        Fact::Bidirectional => {
            claim.is_flag(both_ways) || claim.is_number(lstm.n_directions())
        }
        Fact::PaddingSide => claim.is_usual() || claim.is_one_of("right post"),
        Fact::Architecture => claim.is_one_of(
            "lstm bilstm torchnnlstm nnlstm torchnnmodulesrnnlstm pytorch torch pt",
        ),
        Fact::Gates => claim.is_one_of(
            "ifgo ifco iifigio inputforgetcelloutput inputforgetgateoutput pytorch",
        ),
        Fact::Cell => claim.is_usual() || claim.is_one_of("lstm zeros"),
        Fact::Activation => claim.is_one_of("tanh sigmoid tanhsigmoid"),
        Fact::Heads
        | Fact::KeyValueHeads
        | Fact::HeadWidth
        | Fact::Window
        | Fact::Scores
        | Fact::SoftCap
        | Fact::Positions
        | Fact::AppendedKeys
        | Fact::HeadNorm
        | Fact::Experts
        | Fact::Causal
        | Fact::CrossAttention => return None,
        _ => claim.is_usual(),
    })
}

/// What a case's metadata says beside what is so of its LSTM.
///
/// # Errors
/// [`Metadata`](model_files::Error::Metadata) for what is not so.
pub(super) fn notes<T: Real>(file: &TensorFile, lstm: &Lstm<T>) -> Result<Vec<Unused>> {
    expect_metadata(file, |claim| is_so(claim, lstm))
}

/// What a case holds and is not used; `prefix` is that of its LSTM, in which only the
/// parameters that `is_parameter` knows may stand. `others` are those of other LSTMs.
///
/// # Errors
/// [`Unsupported`](model_files::Error::Unsupported) and
/// [`Unknown`](model_files::Error::Unknown) for what would change the result.
pub(super) fn unused(
    file: &TensorFile,
    (prefix, others): (&str, &[String]),
    is_parameter: impl Fn(&str) -> bool,
) -> Result<Vec<Unused>> {
    let other = Use::Harmless("another module's parameter");
    let is_others = |name: &str| {
        let mut locals =
            others.iter().filter_map(|other| name.strip_prefix(other.as_str()));
        locals.any(&is_parameter)
    };
    expect_known(file, "an LSTM's case", |name| match name.strip_prefix(prefix) {
        Some(local) if is_parameter(local) => Some(Use::Used),
        _ => first_rule(RULES, name).or_else(|| {
            if is_others(name) {
                return Some(other);
            }
            let is_outside = !prefix.is_empty() && !name.starts_with(prefix);
            let outside = || first_rule(OUTSIDE, name).unwrap_or(other);
            (is_outside && name.contains('.')).then(outside)
        }),
    })
}
