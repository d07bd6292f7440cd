//! The ledgers: 263,168 parameters, whatever the number of heads.

use attention::{Dims, LayerParameters, MultiplyAdds, Rng, SeedableRng};

use stages::cases::every_stage_and_batched;

fn parameters(d_model: usize, n_heads: usize, bias: bool) -> LayerParameters {
    let dims = Dims::new(d_model, n_heads).unwrap();
    LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(1))
}

#[test]
fn every_stage_counts_the_same_for_every_number_of_heads() {
    for n_heads in [1, 2, 4, 8, 16] {
        for (bias, expected) in [(true, 263_168), (false, 262_144)] {
            for stage in every_stage_and_batched(&parameters(256, n_heads, bias)) {
                let total = stage.parameter_count().total();
                assert_eq!(
                    total,
                    expected,
                    "{}, {n_heads} heads, bias {bias}",
                    stage.name()
                );
            }
        }
    }
}

#[test]
fn the_mixer_of_a_512_wide_layer_has_262_144_parameters() {
    for stage in every_stage_and_batched(&parameters(512, 8, true)) {
        let count = stage.parameter_count();
        let w_o = count.counts().iter().find(|count| count.name() == "W^O").unwrap();
        assert_eq!(w_o.parameters(), 262_144, "{}", stage.name());
    }
}

#[test]
fn the_ledger_of_each_stage() {
    let parameters = parameters(256, 8, true);
    let fused = fused_heads::FusedAttention::new(&parameters);
    insta::assert_snapshot!("ledger_per_head", parameters.count());
    insta::assert_snapshot!("ledger_fused", fused.parameters().count());
}

#[test]
fn the_cost_of_dividing_the_width_and_of_not_dividing_it() {
    let cost = |n_heads, width| {
        let dims = Dims::with_head_sizes(512, n_heads, width, width).unwrap();
        format!("{n_heads} × {width}\n{}", MultiplyAdds::count(dims, 100, 100).unwrap())
    };
    let all = [cost(1, 512), cost(8, 64), cost(8, 512)].join("\n");
    insta::assert_snapshot!("cost_512", all);
}
