//! The trained layer gives what it gave where it was trained.

use std::fmt::Write;

use attention::{Attended, Mask, Matrix};

use stages::cases::{TRAINED, assert_close, difference, every_stage_and_batched};

#[test]
fn every_stage_gives_the_reference_on_the_four_sentences() {
    let layer = model_files::minilm().unwrap();
    let single = layer.parameters.cast::<f32>();
    for sentence in &layer.sentences {
        let expected =
            Attended { out: sentence.output.clone(), attn: sentence.attn.clone() };
        for stage in every_stage_and_batched(&layer.parameters) {
            let seen = stage.self_attend(&sentence.input, &Mask::None).unwrap();
            let between =
                format!("{} and the reference on {}", stage.name(), sentence.name);
            let diff = difference(&expected, &seen);
            println!("{between}: max |Δ| = {diff:.1e}");
            assert_close(between, diff, TRAINED);
        }
        for stage in every_stage_and_batched(&single) {
            let input = sentence.input.map(|x| x as f32);
            let seen = stage.self_attend(&input, &Mask::None).unwrap();
            let diff = difference(&expected, &in_f64(&seen));
            println!(
                "{} in f32 on {}: max |Δ| = {diff:.1e}",
                stage.name(),
                sentence.name
            );
            assert_close(format!("{} in f32", stage.name()), diff, TRAINED);
        }
    }
}

fn in_f64(attended: &Attended<f32>) -> Attended {
    let wide = |m: &Matrix<f32>| m.map(f64::from);
    Attended { out: wide(&attended.out), attn: attended.attn.iter().map(wide).collect() }
}

#[test]
fn every_stage_draws_the_same_map() {
    let layer = model_files::minilm().unwrap();
    let animal = layer.sentence("animal_tired").unwrap();
    insta::allow_duplicates! {
        for stage in every_stage_and_batched(&layer.parameters) {
            let seen = stage.self_attend(&animal.input, &Mask::None).unwrap();
            insta::assert_snapshot!("animal_head_11", table(&animal.tokens, &seen.attn[11]));
        }
    }
}

/// A map to four decimals, tokens on both sides.
fn table(tokens: &[String], attn: &Matrix) -> String {
    let mut text = format!("{:>8}", "");
    for key in tokens {
        write!(text, " {key:>7}").unwrap();
    }
    for (query, row) in tokens.iter().zip(attn.row_iter()) {
        write!(text, "\n{query:>8}").unwrap();
        for weight in row.iter() {
            write!(text, " {weight:>7.4}").unwrap();
        }
    }
    text
}
