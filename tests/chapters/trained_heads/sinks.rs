//! `[CLS]`: what it gets, what it writes, and the output without it.

use attention::{Mask, Matrix, max_abs_diff};
use lessons::numbers::{ends, mean};
use lessons::trained::{is_word, passes};
use lessons::trained_heads::measures::lengths;
use lessons::trained_heads::sinks::{Got, Without};
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, percent, values};
use stages::cases::TRAINED;
use stages::cases::{assert_close, every_stage_and_batched};

#[test]
fn the_output_without_a_token_is_that_of_every_stage() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    for sentence in &sentences {
        let (x, n) = (&sentence.input, sentence.tokens.len());
        for key in [0, 2, n - 1] {
            let without = Without::new(&parameters, x, key).unwrap();
            let diff = max_abs_diff(&without.whole, &sentence.output).unwrap();
            assert_close("the whole output and the reference", diff, TRAINED);
            let allowed: Vec<bool> = (0..n).map(|token| token != key).collect();
            for stage in every_stage_and_batched(&parameters) {
                let masked = stage.self_attend(x, &Mask::Keys(allowed.clone())).unwrap();
                let diff = max_abs_diff(&without.masked, &masked.out).unwrap();
                assert_close(format!("masked, {}", stage.name()), diff, 1e-12);
            }
            // Dropped: the same pass with a value of zeros for this token.
            let mut out = Matrix::zeros(n, parameters.dims().d_model());
            for (i, mut pass) in passes(&parameters, x).unwrap().into_iter().enumerate() {
                pass.v.row_mut(key).fill(0.0);
                out += pass.attn * pass.v * parameters.w_o_of_head(i);
            }
            let bias = parameters.w_o().bias.as_ref().unwrap();
            out.row_iter_mut().for_each(|mut row| row += bias);
            let diff = max_abs_diff(&without.dropped, &out).unwrap();
            assert_close("dropped", diff, 1e-12);
        }
    }
}

#[test]
fn what_cls_gets_and_writes_and_the_output_without_it() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let mut of_cls = [const { Vec::new() }; 6];
    let mut relative = Vec::new();
    for sentence in &sentences {
        let Got { attention, written } = Got::new(&parameters, &sentence.input).unwrap();
        let of = |key: usize| {
            let without = Without::new(&parameters, &sentence.input, key).unwrap();
            let [dropped, masked] = without.changes();
            let (stretch, direction) = (without.stretch(), without.direction());
            [attention[key], written[key], dropped, masked, stretch, direction]
        };
        let each: Vec<[f64; 6]> = (0..sentence.tokens.len()).map(of).collect();
        assert!(each[1..].iter().all(|[gets, ..]| *gets < each[0][0]));
        // What the figure's title says.
        let more = |of: &[f64; 6]| of[3] - of[2];
        assert!(each[1..].iter().all(|of| more(of).abs() < 0.08) && more(&each[0]) > 0.3);
        let others = mean(each[1..].iter().map(|of| of[1]));
        of_cls.iter_mut().zip(each[0]).for_each(|(all, one)| all.push(one));
        relative.push(each[0][1] / others);
    }
    let [gets, writes, dropped, masked, stretch, direction] = of_cls.map(ends);
    let mut quoted = Vec::new();
    for (name, [least, _, most]) in [
        ("cls", gets),
        ("cls_written", writes),
        ("cls_dropped", dropped),
        ("cls_masked", masked),
    ] {
        quoted.push((format!("{name}_from"), percent(least)));
        quoted.push((format!("{name}_to"), percent(most)));
    }
    quoted.extend([
        ("cls_relative_from".to_owned(), format!("{:.2}", ends(relative.clone())[0])),
        ("cls_relative_to".to_owned(), format!("{:.2}", ends(relative)[2])),
        ("cls_stretch_from".to_owned(), format!("{:.1}", stretch[0])),
        ("cls_stretch_to".to_owned(), format!("{:.1}", stretch[2])),
        ("cls_cosine".to_owned(), format!("{:.2}", direction[0])),
    ]);
    assert_quote!("trained_heads_sinks_values", values(&quoted));
}

#[test]
fn no_value_is_shorter_than_that_of_cls() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let (mut of_cls, mut of_words) = (vec![], vec![]);
    let (mut cls_first, mut n_maps) = (0, 0);
    for sentence in &sentences {
        let mut of_tokens = vec![0.0; sentence.tokens.len()];
        for (i, pass) in passes(&parameters, &sentence.input).unwrap().iter().enumerate()
        {
            let lengths = lengths(&parameters, i, pass);
            of_tokens.iter_mut().zip(&lengths).for_each(|(sum, length)| *sum += length);
            of_cls.push(lengths[0]);
            let column = |key: usize| pass.attn.column(key).sum();
            let is_first = (1..pass.attn.ncols()).all(|key| column(key) < column(0));
            cls_first += usize::from(is_first);
            n_maps += 1;
            let words = sentence.tokens.iter().zip(lengths).filter(|(t, _)| is_word(t));
            of_words.extend(words.map(|(_, length)| length));
        }
        let shortest = of_tokens[0];
        assert!(of_tokens[1..].iter().all(|&length| length > shortest), "{of_tokens:?}");
    }
    let quoted = [
        ("cls_first", cls_first.to_string()),
        ("maps", n_maps.to_string()),
        ("length_cls", format!("{:.2}", mean(of_cls))),
        ("length_words", format!("{:.2}", mean(of_words))),
    ];
    assert_quote!("trained_heads_lengths", values(&quoted));
}
