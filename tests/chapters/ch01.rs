//! What chapter 1 quotes.

use std::fmt::Write;

use attention::{Mask, Matrix, weighted_values};
use pretrained::Sentence;
use single_head::{HeadPass, attend};

/// Every head's pass over a sentence, head 0 first.
fn passes(sentence: &Sentence) -> Vec<HeadPass> {
    let layer = pretrained::minilm().unwrap();
    let x = &sentence.input;
    let heads = layer.parameters.heads().iter();
    heads.map(|head| attend(head, x, x, x, &Mask::None).unwrap()).collect()
}

fn pilot() -> Sentence {
    pretrained::minilm().unwrap().sentence("pilot").unwrap().clone()
}

/// Where a word stands; of a word that stands twice, the first.
fn at(sentence: &Sentence, word: &str) -> usize {
    sentence.tokens.iter().position(|token| token == word).unwrap()
}

/// A share as the figures print it: `.572`.
fn share(share: f64) -> String {
    format!("{share:.3}").trim_start_matches('0').to_string()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// How far two rows of numbers point the same way: 1 the same way, 0 at right angles.
fn cosine(a: &Matrix, b: &Matrix) -> f64 {
    a.dot(b) / (a.norm() * b.norm())
}

fn row(matrix: &Matrix, i: usize) -> Matrix {
    matrix.rows(i, 1).into_owned()
}

/// The mean share that `key` gets from every query but one.
fn mean_of_others(attn: &Matrix, query: usize, key: usize) -> f64 {
    let (others, n) = (attn.column(key).sum() - attn[(query, key)], attn.nrows() - 1);
    others / n as f64
}

/// Who, what and where: the link, and the head that gives it the most among the twelve.
const QUESTIONS: [(&str, &str, usize); 3] =
    [("who", "pilot", 11), ("what", "plane", 5), ("where", "paris", 4)];

#[test]
fn three_heads_give_together_what_no_row_can() {
    let sentence = pilot();
    let heads = passes(&sentence);
    let flew = at(&sentence, "flew");
    let attn = |head: usize, word| heads[head].attn[(flew, at(&sentence, word))];

    let mut text = String::new();
    writeln!(text, "n_tokens: {}", sentence.tokens.len()).unwrap();
    writeln!(text, "n_heads: {}", heads.len()).unwrap();
    writeln!(text, "d_v: {}", heads[0].v.ncols()).unwrap();
    for head in [11, 5, 4] {
        for word in ["pilot", "plane", "paris", "[CLS]"] {
            let name = word.trim_matches(['[', ']']).to_lowercase();
            writeln!(text, "{name}_{head}: {}", share(attn(head, word))).unwrap();
        }
    }
    let most = |word| (0..12).map(|head| attn(head, word)).fold(0.0, f64::max);
    let sum: f64 = QUESTIONS.iter().map(|&(_, word, head)| attn(head, word)).sum();
    for (_, word, head) in QUESTIONS {
        assert_eq!(attn(head, word), most(word), "head {head} leads for {word}");
    }
    assert!(sum > 1.0, "{sum} fits in one row");
    writeln!(text, "sum_of_three: {sum:.2}").unwrap();
    writeln!(text, "left_in_11: {}", share(1.0 - attn(11, "pilot"))).unwrap();

    let mean = |word| (0..12).map(|head| attn(head, word)).sum::<f64>() / 12.0;
    for word in ["pilot", "plane", "paris"] {
        writeln!(text, "{word}_mean: {}", share(mean(word))).unwrap();
    }
    let least = heads.iter().map(|head| head.attn.min()).fold(1.0, f64::min);
    assert!(least > 0.0, "a softmax gives every key something");
    writeln!(text, "least_share: {least:.4}").unwrap();
    insta::assert_snapshot!("ch01_flew", text);
}

#[test]
fn a_blend_lies_between_what_it_is_made_of() {
    let sentence = pilot();
    let flew = at(&sentence, "flew");
    for HeadPass { attn, v, out, .. } in &passes(&sentence) {
        assert!(attn.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
        for (c, feature) in v.column_iter().enumerate() {
            let inside = feature.min()..=feature.max();
            assert!(inside.contains(&out[(flew, c)]), "feature {c} is no average");
        }
    }
}

/// Values of three features that have names, so that a blend can be read.
#[test]
fn a_blend_of_values_that_can_be_read() {
    let features = ["agent", "object", "place"];
    let tokens = ["pilot", "plane", "paris", "crew"];
    #[rustfmt::skip]
    let v = Matrix::from_row_slice(4, 3, &[
        1.0, 0.0, 0.0,
        0.0, 1.0, 0.0,
        0.0, 0.0, 1.0,
        0.8, 0.0, 0.2,
    ]);
    #[rustfmt::skip]
    let attn = Matrix::from_row_slice(4, 4, &[
        1.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 1.0, 0.0,
        0.8, 0.0, 0.2, 0.0,
        0.0, 0.0, 0.0, 1.0,
    ]);
    let out = weighted_values(&attn, v.as_view());
    assert_eq!(out.row(2), out.row(3), "two rows of shares, one output");

    let mut text = format!("{:<28}", "values");
    features.iter().for_each(|name| write!(text, "{name:>8}").unwrap());
    let numbers = |text: &mut String, name: &str, row: usize, of: &Matrix| {
        write!(text, "\n{name:<28}").unwrap();
        of.row(row).iter().for_each(|x| write!(text, "{x:>8.1}").unwrap());
    };
    for (j, token) in tokens.iter().enumerate() {
        numbers(&mut text, &format!("  {token}"), j, &v);
    }
    write!(text, "\n\nrow of shares                  output").unwrap();
    for i in 0..attn.nrows() {
        let given: Vec<String> = (0..tokens.len())
            .filter(|&j| attn[(i, j)] > 0.0)
            .map(|j| format!("{} {}", percent(attn[(i, j)]), tokens[j]))
            .collect();
        numbers(&mut text, &format!("  {}", given.join(" + ")), i, &out);
    }
    insta::assert_snapshot!("ch01_readable_blend", text);
}

/// The blend of source 000, with the trained values of head 5, and what heads 11, 5 and 4
/// do give for “flew”.
#[test]
fn what_a_blend_takes_from_one_it_gives_to_the_other() {
    let sentence = pilot();
    let heads = passes(&sentence);
    let value = |head: usize, word| row(&heads[head].v, at(&sentence, word));
    let (v_pilot, v_paris) = (value(5, "pilot"), value(5, "paris"));
    let apart = (&v_pilot - &v_paris).norm();

    let mut table = format!(
        "{:<24}  {:<22}  {}\n{:<24}  {:>8}{:>11}   {:>8}{:>11}",
        "shares",
        "same way as",
        "share of the way from",
        "",
        "pilot",
        "Paris",
        "pilot",
        "Paris"
    );
    for to_paris in [0.0, 0.2, 0.5, 0.8, 1.0] {
        let shares = Matrix::from_row_slice(1, 2, &[1.0 - to_paris, to_paris]);
        let pair = Matrix::from_rows(&[v_pilot.row(0), v_paris.row(0)]);
        let blend = weighted_values(&shares, pair.as_view());
        let ways = [cosine(&blend, &v_pilot), cosine(&blend, &v_paris)];
        let distances = [&v_pilot, &v_paris].map(|value| (&blend - value).norm() / apart);
        assert!((distances[0] + distances[1] - 1.0).abs() < 1e-12);
        let name =
            format!("{} pilot, {} Paris", percent(1.0 - to_paris), percent(to_paris));
        write!(
            table,
            "\n{name:<24}  {:>8.2}{:>11.2}   {:>8.2}{:>11.2}",
            ways[0], ways[1], distances[0], distances[1]
        )
        .unwrap();
    }
    insta::assert_snapshot!("ch01_blend", table);

    let mut text = String::new();
    let shares = Matrix::from_row_slice(1, 2, &[0.8, 0.2]);
    let pair = Matrix::from_rows(&[v_pilot.row(0), v_paris.row(0)]);
    let blend = weighted_values(&shares, pair.as_view());
    writeln!(text, "apart_5: {:.2}", cosine(&v_pilot, &v_paris)).unwrap();
    writeln!(text, "blend_pilot: {:.2}", cosine(&blend, &v_pilot)).unwrap();
    writeln!(text, "blend_paris: {:.2}", cosine(&blend, &v_paris)).unwrap();
    let flew = at(&sentence, "flew");
    for head in [11, 5, 4] {
        let out = row(&heads[head].out, flew);
        for word in ["pilot", "plane", "paris"] {
            let way = cosine(&out, &value(head, word));
            writeln!(text, "out_{head}_{word}: {way:.2}").unwrap();
        }
    }
    insta::assert_snapshot!("ch01_directions", text);
}

/// What must be said beside every share: who else looks there, and what is found there.
#[test]
fn a_share_needs_a_control_beside_it() {
    let sentence = pilot();
    let heads = passes(&sentence);
    let flew = at(&sentence, "flew");

    let mut table =
        format!("{:<14}{:>6}{:>11}{:>13}", "link", "head", "from flew", "from others");
    let mut text = String::new();
    for (_, word, head) in QUESTIONS {
        let (attn, key) = (&heads[head].attn, at(&sentence, word));
        let (own, others) = (attn[(flew, key)], mean_of_others(attn, flew, key));
        let link = format!("flew → {word}");
        let shares = [own, others].map(share);
        write!(table, "\n{link:<14}{head:>6}{:>11}{:>13}", shares[0], shares[1]).unwrap();
        writeln!(text, "others_{word}: {}", shares[1]).unwrap();
        let first = |i: usize| attn.row(i).iter().all(|&other| other <= attn[(i, key)]);
        let rows = (0..attn.nrows()).filter(|&i| first(i)).count();
        writeln!(text, "rows_led_by_{word}: {rows}").unwrap();
    }
    insta::assert_snapshot!("ch01_controls", table);

    // A share is not yet a contribution: the value behind it may be short.
    let HeadPass { attn, v, .. } = &heads[11];
    let lengths: Vec<f64> = v.row_iter().map(|value| value.norm()).collect();
    let parts: Vec<f64> = attn
        .row(flew)
        .iter()
        .zip(&lengths)
        .map(|(share, length)| share * length)
        .collect();
    let whole: f64 = parts.iter().sum();
    let above = attn.row(flew).iter().filter(|a| **a > attn[(flew, 0)]).count();
    assert_eq!(above, 1, "[CLS] has the second-largest share");
    for (name, word) in [("cls", "[CLS]"), ("pilot", "pilot")] {
        let key = at(&sentence, word);
        writeln!(text, "length_{name}: {:.1}", lengths[key]).unwrap();
        writeln!(text, "part_{name}: {}", percent(parts[key] / whole)).unwrap();
    }

    let best = best_of_heads();
    let half = best.iter().filter(|share| **share >= 0.5).count();
    writeln!(text, "pairs: {}", best.len()).unwrap();
    writeln!(text, "pairs_median: {}", share(best[best.len() / 2])).unwrap();
    writeln!(text, "pairs_half: {half}").unwrap();
    let fifth = best.iter().filter(|share| **share >= 0.2).count();
    writeln!(text, "pairs_fifth: {fifth}").unwrap();
    insta::assert_snapshot!("ch01_control_numbers", text);
}

/// For every pair of different words in the four sentences, what the best of the twelve
/// heads gives it, in ascending order.
fn best_of_heads() -> Vec<f64> {
    let is_word =
        |token: &String| token.starts_with(|c: char| c.is_alphanumeric() || c == '#');
    let mut best = Vec::new();
    for sentence in &pretrained::minilm().unwrap().sentences {
        let heads = passes(sentence);
        let words: Vec<usize> = (0..sentence.tokens.len())
            .filter(|&i| is_word(&sentence.tokens[i]))
            .collect();
        for &i in &words {
            for &j in words.iter().filter(|&&j| j != i) {
                let shares = heads.iter().map(|head| head.attn[(i, j)]);
                best.push(shares.fold(0.0, f64::max));
            }
        }
    }
    best.sort_by(f64::total_cmp);
    best
}

/// The page before the chapters names what the workspace needs.
#[test]
fn what_start_here_says_is_needed() {
    let dims = pretrained::minilm().unwrap().parameters.dims();
    let text = format!(
        "rust_version: {}\ntrained_d_model: {}\ntrained_heads: {}\ntrained_d_k: {}",
        env!("CARGO_PKG_RUST_VERSION"),
        dims.d_model(),
        dims.n_heads(),
        dims.d_k(),
    );
    insta::assert_snapshot!("ch01_start_here", text);
}
