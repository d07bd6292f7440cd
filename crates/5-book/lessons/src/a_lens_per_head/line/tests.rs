use attention::{
    MultiHeadAttention, attend_head, max_abs_diff, softmax_rows, weighted_values,
};
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention};

use super::*;

const MASKS: [Mask; 2] = [Mask::None, Mask::Causal];

/// The loops, the heads one by one, their sum and the fused layer.
#[test]
fn every_stage_gives_the_numbers_of_the_drawing() {
    for mask in &MASKS {
        let Computed { x, heads, out, parameters } = Computed::of(mask).unwrap();
        let stages: [Box<dyn MultiHeadAttention<f64>>; 4] = [
            Box::new(NaiveAttention::new(parameters.clone())),
            Box::new(PerHeadAttention::new(parameters.clone())),
            Box::new(SumOfHeadsAttention::new(parameters.clone())),
            Box::new(FusedAttention::new(&parameters)),
        ];
        for stage in stages {
            let attended = stage.forward(&x, &x, &x, mask).unwrap();
            let name = stage.name();
            assert!(max_abs_diff(&attended.out, &out).unwrap() < 1e-12, "{name}");
            for (attn, head) in attended.attn.iter().zip(&heads) {
                assert!(max_abs_diff(attn, &head.attn).unwrap() < 1e-12, "{name}");
            }
        }
    }
}

/// What stands between the products and the shares, from the formula without projections.
#[test]
fn the_steps_of_a_head_lead_from_one_to_the_next() {
    for mask in &MASKS {
        for head in Computed::of(mask).unwrap().heads {
            let [q, k, v] = [&head.q, &head.k, &head.v].map(|it| it.as_view());
            let pass = attend_head(q, k, v, None, mask).unwrap();
            assert_eq!(pass.scores, head.scores);
            assert_eq!(pass.attn, head.attn);
            assert_eq!(softmax_rows(head.masked.clone()), head.attn);
            let near = |a: &Matrix, b: &Matrix| max_abs_diff(a, b).unwrap() < 1e-12;
            assert!(near(&(&head.products / 2f64.sqrt()), &head.scores));
            let sums = head.exps.column_sum();
            let shares = Matrix::from_fn(3, 3, |i, j| head.exps[(i, j)] / sums[i]);
            assert!(near(&shares, &head.attn));
            assert!(near(&weighted_values(&head.attn, v), &head.out));
        }
    }
}

#[test]
fn what_is_said_at_every_step() {
    let said = (0..=LAST).map(|step| {
        let shown = LIVE.at([("step", step.to_string().as_str())]).unwrap();
        format!("{}\n  {}", shown.figure.title(), shown.words)
    });
    insta::assert_snapshot!("words", said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_said_of_each_word() {
    let said = ["0", "1", "2"].into_iter().flat_map(|word| {
        ["off", "on"].map(|causal| {
            let at = [("step", "9"), ("word", word), ("causal", causal)];
            LIVE.at(at).unwrap().words
        })
    });
    insta::assert_snapshot!("shares", said.collect::<Vec<_>>().join("\n"));
}

/// The title, the sentence and the drawing at every setting; a sentence has no line too many.
#[test]
fn every_setting_is_drawn() {
    for step in 0..=LAST {
        for (word, causal) in [(0, false), (1, true), (2, true)] {
            let shown = draw(&Set { step, word, causal }).unwrap();
            assert!(shown.words.ends_with('.') && shown.words.len() < 190);
            assert!(shown.figure.title().starts_with(&step.to_string()));
        }
    }
}

#[test]
fn a_strip_is_drawn_by_what_a_chapter_asks() {
    let title =
        |at| strip(&[("at", at)].into_iter().collect()).unwrap().title().to_owned();
    assert_eq!(title("scores-mask"), "This chapter is about scores, mask");
    assert_eq!(title("backwards-mix"), "This chapter goes backwards through mix");
    assert!(strip(&[("at", "norm")].into_iter().collect()).is_err());
}
