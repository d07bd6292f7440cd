//! What “One look is not enough” quotes.

use attention::{Matrix, Rng, SeedableRng, random_matrix, softmax_rows};
use lessons::numbers::{ends, mean};
use lessons::one_look_is_not_enough::{
    Pilot, QUESTIONS, blend, mean_of_others, readable, rows_led_by,
};
use lessons::trained_heads::claims::best_head;
use lessons::trained_heads::others::{RANDOM_LAYERS, random_layer};
use lessons::{plain, trained};
use model_files::minilm;
use single_head::HeadPass;

use crate::quote::{Table, assert_quote, share, values};

const HEADS: [usize; 3] = [11, 5, 4];

#[test]
fn three_heads_give_together_what_no_row_can() {
    let pilot = Pilot::new().unwrap();
    let heads = &pilot.heads;
    let attn = |head: usize, word| pilot.from_flew(head, word).unwrap();

    let mut said = vec![
        ("n_tokens".to_owned(), pilot.sentence.tokens.len().to_string()),
        ("n_heads".to_owned(), heads.len().to_string()),
        ("d_v".to_owned(), heads[0].v.ncols().to_string()),
    ];
    let mut say = |name: String, value: String| said.push((name, value));
    for head in HEADS {
        for word in ["pilot", "plane", "paris", "[CLS]"] {
            let name = word.trim_matches(['[', ']']).to_lowercase();
            say(format!("{name}_{head}"), share(attn(head, word)));
        }
    }
    let most = |word| (0..12).map(|head| attn(head, word)).fold(0.0, f64::max);
    let sum: f64 = QUESTIONS.iter().map(|&(_, word, head)| attn(head, word)).sum();
    for (_, word, head) in QUESTIONS {
        assert_eq!(attn(head, word), most(word), "head {head} leads for {word}");
    }
    assert!(sum > 1.0, "{sum} fits in one row");
    say("sum_of_three".to_owned(), format!("{sum:.2}"));
    said.extend(sums_beside(&pilot, sum));
    let mut say = |name: String, value: String| said.push((name, value));
    say("left_in_11".to_owned(), share(1.0 - attn(11, "pilot")));

    let least = heads.iter().map(|head| head.attn.min()).fold(1.0, f64::min);
    assert!(least > 0.0, "a softmax gives every key something");
    say("least_share".to_owned(), format!("{least:.4}"));
    assert_quote!("one_look_is_not_enough_flew", values(&said));
}

/// The controls of that sum: three maxima over twelve heads, chosen after looking, for
/// every other token but the three words, and for “flew” in random layers.
fn sums_beside(pilot: &Pilot, sum: f64) -> Vec<(String, String)> {
    let maps: Vec<Matrix> = pilot.heads.iter().map(|head| head.attn.clone()).collect();
    let keys = QUESTIONS.map(|(_, word, _)| pilot.at(word).unwrap());
    let best = |maps: &[Matrix], query: usize| -> f64 {
        keys.iter().map(|&key| best_head(maps, &[query], key).1).sum()
    };
    let flew = pilot.at("flew").unwrap();
    assert_eq!(best(&maps, flew), sum);
    let others = (0..maps[0].nrows()).filter(|at| *at != flew && !keys.contains(at));
    let others: Vec<f64> = others.map(|query| best(&maps, query)).collect();
    let in_random: Vec<f64> = (0..RANDOM_LAYERS)
        .map(|seed| {
            let layer = random_layer(seed).unwrap();
            best(&trained::maps(&layer, &pilot.sentence.input).unwrap(), flew)
        })
        .collect();
    let n_over = others.iter().filter(|&&sum| sum > 1.0).count();
    let [[least, _, most], [random_least, random, random_most]] =
        [others.clone(), in_random].map(ends);
    let two = |name: &str, sum: f64| (name.to_owned(), format!("{sum:.2}"));
    vec![
        ("n_others".to_owned(), others.len().to_string()),
        ("others_over_1".to_owned(), n_over.to_string()),
        two("others_least", least),
        two("others_mean", mean(others)),
        two("others_most", most),
        ("random_layers".to_owned(), RANDOM_LAYERS.to_string()),
        two("random_least", random_least),
        two("random_median", random),
        two("random_most", random_most),
    ]
}

#[test]
fn a_blend_lies_between_what_it_is_made_of() {
    let pilot = Pilot::new().unwrap();
    let flew = pilot.at("flew").unwrap();
    for HeadPass { attn, v, out, .. } in &pilot.heads {
        assert!(attn.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
        for (c, feature) in v.column_iter().enumerate() {
            let inside = feature.min()..=feature.max();
            assert!(inside.contains(&out[(flew, c)]), "feature {c} is no average");
        }
    }
}

#[test]
fn two_loops_are_the_product_of_matrices() {
    let blend = readable();
    let rows = |of: &attention::Matrix| -> Vec<plain::Row> {
        of.row_iter().map(|row| row.iter().copied().collect()).collect()
    };
    let out: Vec<plain::Row> = rows(&blend.attn)
        .iter()
        .map(|shares| plain::weighted_sum(shares, &rows(&blend.v)))
        .collect();
    assert_eq!(out, rows(&blend.out));
}

#[test]
fn a_blend_of_values_that_can_be_read() {
    let blend = readable();
    assert_eq!(blend.out.row(2), blend.out.row(3), "two rows of shares, one output");
}

/// The blend of source 000, with the trained values of head 5: as of any two rows, it lies
/// on the straight line between them.
#[test]
fn what_a_blend_takes_from_one_it_gives_to_the_other() {
    let pilot = Pilot::new().unwrap();
    let value = |head: usize, word| pilot.value(head, word).unwrap();
    let (v_pilot, v_paris) = (value(5, "pilot"), value(5, "paris"));
    let apart = (&v_pilot - &v_paris).norm();
    for to_paris in [0.0, 0.2, 0.5, 0.8, 1.0] {
        let blend = blend(&v_pilot, &v_paris, to_paris);
        let distances = [&v_pilot, &v_paris].map(|value| (&blend - value).norm() / apart);
        assert!((distances[0] - to_paris).abs() < 1e-12, "{distances:?}");
        assert!((distances[1] - (1.0 - to_paris)).abs() < 1e-12, "{distances:?}");
    }
}

/// What must be said beside every share: who else looks there, and what is found there.
#[test]
fn a_share_needs_a_control_beside_it() {
    let pilot = Pilot::new().unwrap();
    let (heads, flew) = (&pilot.heads, pilot.at("flew").unwrap());

    let mut table = Table::new(["link", "head", "from flew", "from others"]);
    let mut said = Vec::new();
    for (_, word, head) in QUESTIONS {
        let (attn, key) = (&heads[head].attn, pilot.at(word).unwrap());
        let shares = [attn[(flew, key)], mean_of_others(attn, flew, key)];
        let [own, others] = shares.map(share);
        let link = format!("flew → {word}");
        table.row([link, head.to_string(), own, others.clone()]);
        said.push((format!("others_{word}"), others));
        said.push((format!("rows_led_by_{word}"), rows_led_by(key, attn).to_string()));
    }
    assert_quote!("one_look_is_not_enough_controls", table.text());

    assert_quote!("one_look_is_not_enough_control_numbers", values(&said));
}

/// A link that is planted in a map of noise stands out from its control, and one to a key
/// that every query was made to look at does not.
#[test]
fn a_planted_link_stands_out_and_a_key_for_all_does_not() {
    let (query, key) = (4, 2);
    for seed in 0..20 {
        let noise: Matrix = random_matrix(10, 10, 0.3, &mut Rng::seed_from_u64(seed));
        let times = |is_planted: &dyn Fn(usize) -> bool| {
            let mut scores = noise.clone();
            (0..10).filter(|&i| is_planted(i)).for_each(|i| scores[(i, key)] += 3.0);
            let attn = softmax_rows(scores);
            attn[(query, key)] / mean_of_others(&attn, query, key)
        };
        let [nowhere, link, all] =
            [times(&|_| false), times(&|i| i == query), times(&|_| true)];
        assert!(link > 3.0, "{seed}: {link}");
        assert!(nowhere < 2.5 && all < 1.5, "{seed}: {nowhere} {all}");
    }
}

/// A page before the chapters names what the workspace needs.
#[test]
fn what_start_here_says_is_needed() {
    let dims = minilm().unwrap().parameters.dims();
    let said = [
        ("rust_version", env!("CARGO_PKG_RUST_VERSION").to_owned()),
        ("trained_d_model", dims.d_model().to_string()),
        ("trained_heads", dims.n_heads().to_string()),
        ("trained_d_k", dims.d_k().to_string()),
    ];
    assert_quote!("one_look_is_not_enough_start_here", values(&said));
}
