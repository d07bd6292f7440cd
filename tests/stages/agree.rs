//! Every stage gives the same numbers on random sizes, masks and biases.

use std::cell::Cell;

use attention::{Mask, Matrix, Real, attend_heads, max_abs_diff};
use fused_heads::FusedAttention;
use per_head::{PerHeadAttention, concat};
use single_head::HeadPass;

use stages::cases::{
    Case, any_case, assert_close, check, difference, every_stage_and_batched, layer,
    tokens,
};

#[test]
fn every_stage_agrees_with_the_definition_in_f64() {
    agree::<f64>("stages_in_f64", 400, 1e-12);
}

#[test]
fn every_stage_agrees_with_the_definition_in_f32() {
    agree::<f32>("stages_in_f32", 200, 1e-5);
}

fn agree<T: Real>(name: &'static str, n_cases: u32, tolerance: f64) {
    let largest = Cell::new(0f64);
    check(name, n_cases, &any_case(), |case: Case| {
        let [query, key, value] = case.inputs::<T>();
        let stages = every_stage_and_batched(&case.parameters());
        let results: Vec<_> = stages
            .iter()
            .map(|stage| stage.forward(&query, &key, &value, &case.mask).unwrap())
            .collect();
        for (stage, result) in stages.iter().zip(&results).skip(1) {
            let diff = difference(&results[0], result);
            assert_close(
                format!("{} and {}", stages[0].name(), stage.name()),
                diff,
                tolerance,
            );
            largest.set(largest.get().max(diff));
        }
        Ok(())
    });
    println!("{n_cases} random layers: max |Δ| = {:.1e}", largest.get());
}

#[test]
fn one_head_in_loops_and_in_matrices_agree_at_every_step() {
    check("loops_and_matrices", 200, &any_case(), |case: Case| {
        let [query, key, value] = case.inputs::<f64>();
        for (i, head) in case.parameters().heads().iter().enumerate() {
            let mask = case.mask.of_head(i);
            let loops = single_head::attend_in_loops(head, &query, &key, &value, &mask);
            let matrices = single_head::attend(head, &query, &key, &value, &mask);
            let (loops, matrices) = (loops.unwrap(), matrices.unwrap());
            for ((step, a), (_, b)) in loops.steps().into_iter().zip(matrices.steps()) {
                assert_close(step, max_abs_diff(a, b).unwrap(), 1e-12);
            }
        }
        Ok(())
    });
}

/// The fused layer's pass holds what the heads' own passes hold.
#[test]
fn the_fused_pass_has_the_scores_and_the_maps_of_every_head() {
    let largest = Cell::new(0f64);
    check("scores_of_the_fused_pass", 200, &any_case(), |case: Case| {
        let [query, key, value] = case.inputs::<f64>();
        let parameters = case.parameters();
        let pass =
            FusedAttention::new(&parameters).pass(&query, &key, &value, &case.mask);
        let heads =
            PerHeadAttention::new(parameters).heads(&query, &key, &value, &case.mask);
        let (pass, heads) = (pass.unwrap(), heads.unwrap());
        assert_eq!(pass.scores[0].len(), heads.len());
        for (i, head) in heads.iter().enumerate() {
            for (what, one, other) in [
                ("scores", &head.scores, &pass.scores[0][i]),
                ("a map", &head.attn, &pass.attn[0][i]),
            ] {
                let diff = max_abs_diff(one, other).unwrap();
                assert_close(what, diff, 1e-12);
                largest.set(largest.get().max(diff));
            }
        }
        Ok(())
    });
    println!("200 random layers: max |Δ| of scores and maps = {:.1e}", largest.get());
}

/// The scale is no more than a factor of the queries.
#[test]
fn ready_queries_keys_and_values_give_the_heads_of_the_loops() {
    check("ready_queries_keys_and_values", 200, &any_case(), |case: Case| {
        let [query, key, value] = case.inputs::<f64>();
        let (dims, parameters) = (case.dims, case.parameters::<f64>());
        let layer = PerHeadAttention::new(parameters.clone());
        let heads = layer.heads(&query, &key, &value, &case.mask).unwrap();
        let all = |of: fn(&HeadPass) -> &Matrix| concat(heads.iter().map(of)).unwrap();
        let (q, k, v) = (all(|head| &head.q), all(|head| &head.k), all(|head| &head.v));
        let attend = |q: &Matrix, scale| {
            let [q, k, v] = [q, &k, &v].map(|m| m.as_view());
            attend_heads(q, k, v, dims.n_heads(), scale, &case.mask).unwrap()
        };
        let seen = attend(&q, None);
        for (i, head) in parameters.heads().iter().enumerate() {
            let mask = case.mask.of_head(i);
            let loops = single_head::attend_in_loops(head, &query, &key, &value, &mask);
            let loops = loops.unwrap();
            assert_close(
                "a map",
                max_abs_diff(&loops.attn, &seen.attn[i]).unwrap(),
                1e-12,
            );
            let out = seen.out.columns(i * dims.d_v(), dims.d_v()).into_owned();
            assert_close("an output", max_abs_diff(&loops.out, &out).unwrap(), 1e-12);
        }
        let (scaled, factor) = (attend(&q, Some(0.3)), 0.3 * (dims.d_k() as f64).sqrt());
        assert_close(
            "a scale",
            difference(&scaled, &attend(&(&q * factor), None)),
            1e-12,
        );
        Ok(())
    });
}

#[test]
fn a_query_with_nothing_to_attend_to_gives_the_output_bias() {
    let (layer, x) = (layer(12, 3, 1), tokens(4, 12, 2));
    for stage in every_stage_and_batched(&layer) {
        let seen = stage.self_attend(&x, &Mask::FirstKeys(0)).unwrap();
        assert!(
            seen.attn.iter().all(|map| map.iter().all(|&a| a == 0.0)),
            "{}",
            stage.name()
        );
        for row in seen.out.row_iter() {
            assert_eq!(Some(row.into_owned()), layer.w_o().bias, "{}", stage.name());
        }
    }
}

#[test]
fn packing_gives_the_same_numbers_to_the_last_digit_when_products_are_alike() {
    // One token at a time, so that both stages multiply in the same order.
    let (layer, x) = (layer(32, 4, 3), tokens(1, 32, 4));
    let fused = layer.pack();
    for (i, head) in layer.heads().iter().enumerate() {
        let wide = fused.w_q().forward(&x).unwrap();
        assert_eq!(wide.columns(i * 8, 8), head.w_q.forward(&x).unwrap(), "head {i}");
    }
}

#[test]
fn every_stage_refuses_bad_input_in_the_same_words() {
    let (layer, x) = (layer(12, 3, 1), tokens(4, 12, 2));
    let (narrow, none) = (tokens(4, 11, 2), tokens(0, 12, 2));
    let refusals = |words: fn(&str)| {
        for stage in every_stage_and_batched(&layer) {
            let keys_only = tokens(5, 12, 2);
            let errors = [
                stage.self_attend(&narrow, &Mask::None),
                stage.self_attend(&none, &Mask::None),
                stage.forward(&x, &keys_only, &narrow, &Mask::None),
                stage.self_attend(&x, &Mask::Allowed(Matrix::from_element(4, 5, true))),
                stage.self_attend(&x, &Mask::Keys(vec![true; 5])),
                stage.self_attend(&x, &Mask::PerHead(vec![Mask::None; 2])),
            ];
            let errors = errors.map(|result| result.unwrap_err().to_string());
            if stage.name() != "batched" {
                words(&errors.join("\n"));
            }
        }
    };
    insta::allow_duplicates! { refusals(|words| insta::assert_snapshot!(words)) }
}
