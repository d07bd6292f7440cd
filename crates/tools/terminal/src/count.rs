//! `cargo learn count`: the ledgers of a layer.

use anyhow::{Result, ensure};
use attention::{
    Dims, LayerParameters, MultiHeadAttention, MultiplyAdds, Rng, SeedableRng, thousands,
};
use fused_heads::FusedAttention;
use per_head::PerHeadAttention;

use workshop::output::print;

/// A ledger is made from real matrices, so their number must fit in memory.
const MOST_PARAMETERS: u128 = 200_000_000;

/// The sizes of the layer to count.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The width of a token
    #[arg(long, value_name = "N", default_value_t = 256)]
    d_model: usize,
    /// The number of heads
    #[arg(long, value_name = "H", default_value_t = 8)]
    heads: usize,
    /// Count without biases
    #[arg(long)]
    no_bias: bool,
    /// The length of the sequence whose multiply-adds are counted
    #[arg(long, value_name = "T", default_value_t = 30)]
    tokens: usize,
}

/// Prints the parameters of the layer, per head and fused, and what one pass costs.
///
/// # Errors
/// Sizes that do not fit together, or a layer too large to be made.
pub fn run(args: &Args) -> Result<()> {
    Ok(print(report(args)?)?)
}

fn report(args: &Args) -> Result<String> {
    let dims = Dims::new(args.d_model, args.heads)?;
    let parameters = (args.d_model as u128).pow(2).checked_mul(4);
    ensure!(
        parameters.is_some_and(|parameters| parameters <= MOST_PARAMETERS),
        "a layer of d_model {} has {} parameters; this ledger is made from real matrices \
         and stops at {MOST_PARAMETERS}",
        args.d_model,
        parameters.map_or("more than 2¹²⁸".to_string(), |n| format!("about {n}"))
    );
    ensure!(
        (1..=1_000_000).contains(&args.tokens),
        "{} tokens: give between 1 and 1,000,000",
        args.tokens
    );
    let rng = &mut Rng::seed_from_u64(0);
    let layer = LayerParameters::<f32>::random(dims, !args.no_bias, rng);
    let fused = FusedAttention::new(&layer).parameter_count();
    let per_head = PerHeadAttention::new(layer).parameter_count();
    ensure!(
        per_head.total() == fused.total(),
        "the ledgers differ:\n{per_head}\n{fused}"
    );
    Ok(format!(
        "d_model {}, {} heads, d_k = d_v = {}: {} parameters ({})\n\n\
         As {} heads with matrices of their own:\n{per_head}\n\
         As one matrix a projection:\n{fused}\n\
         Multiply-adds of one pass over {} tokens:\n{}",
        args.d_model,
        args.heads,
        dims.d_k(),
        thousands(fused.total()),
        fused.in_words(),
        args.heads,
        args.tokens,
        MultiplyAdds::count(dims, args.tokens, args.tokens)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(d_model: usize, heads: usize, no_bias: bool) -> Args {
        Args { d_model, heads, no_bias, tokens: 30 }
    }

    #[test]
    fn the_ledger_of_source_003() {
        insta::assert_snapshot!(report(&args(256, 8, false)).unwrap());
    }

    #[test]
    fn without_biases_it_is_a_thousand_less() {
        let report = report(&args(256, 8, true)).unwrap();
        assert!(report.contains("262,144 parameters"), "{report}");
    }

    #[test]
    fn sizes_that_do_not_work_are_refused_with_their_numbers() {
        let refused = |d_model, heads| report(&args(d_model, heads, false)).unwrap_err();
        insta::assert_snapshot!(refused(256, 7), @"d_model 256 cannot be divided among 7 heads: 256 = 7 × 36 + 4");
        insta::assert_snapshot!(refused(256, 0), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused(1 << 40, 8), @"a layer of d_model 1099511627776 has about 4835703278458516698824704 parameters; this ledger is made from real matrices and stops at 200000000");
        insta::assert_snapshot!(refused(1 << 63, 8), @"a layer of d_model 9223372036854775808 has more than 2¹²⁸ parameters; this ledger is made from real matrices and stops at 200000000");
        insta::assert_snapshot!(refused(usize::MAX, usize::MAX), @"a layer of d_model 18446744073709551615 has more than 2¹²⁸ parameters; this ledger is made from real matrices and stops at 200000000");
    }
}
