//! What was found about the heads of SmolLM2.

use attention::median;
use lessons::a_model_that_writes::ablated::{OF_PROSE, ablations};
use lessons::a_model_that_writes::effects::{BREAKS, MENDS};
use lessons::a_model_that_writes::findings;
use lessons::a_model_that_writes::patterns::{
    MOST, PATTERNS, above, even_copying, shares,
};
use lessons::numbers::{ends, share};
use models::decoders::study::{COPIES, OnePath, PERIOD};

use crate::quote::{assert_quote, percent, values};

fn nats(loss: f64) -> String {
    format!("{loss:.2}")
}

/// `2.11 to 3.00`.
fn range(losses: impl IntoIterator<Item = f64>) -> String {
    let [least, _, most] = ends(losses).map(nats);
    format!("{least} to {most}")
}

#[test]
fn the_heads_that_have_a_pattern() {
    let heads = &findings().unwrap().heads;
    let mut quoted = vec![
        ("period".to_owned(), PERIOD.to_string()),
        ("copies".to_owned(), COPIES.to_string()),
        ("even".to_owned(), share(even_copying())),
    ];
    for (pattern, _) in PATTERNS {
        let found = above(&shares(heads, pattern).unwrap(), MOST);
        let layers = || found.iter().map(|(layer, ..)| *layer);
        match (pattern, layers().min(), layers().max()) {
            ("copying" | "previous", Some(first), Some(last)) => {
                quoted.push((format!("{pattern}_layers"), format!("{first} to {last}")));
            }
            // What the chapter says of prose.
            ("copying_prose", first, _) => assert_eq!(first, None),
            _ => {}
        }
        if ["copying", "first"].contains(&pattern) {
            quoted.push((pattern.to_owned(), found.len().to_string()));
        }
    }
    // Of those that copy on random text, the ones that give most to the first token on prose.
    let (copying, first) =
        (shares(heads, "copying").unwrap(), shares(heads, "first").unwrap());
    let waits =
        copying.iter().zip(&first).filter(|(copied, of)| **copied > MOST && **of > MOST);
    quoted.push(("copying_waits".to_owned(), waits.count().to_string()));
    assert_quote!("a_model_that_writes_patterns_values", values(&quoted));
}

#[test]
fn copying_heads_taken_away() {
    let findings = findings().unwrap();
    let whole = ablations(findings, "whole", 0, "zero")[0];
    let of = |what, how| ablations(findings, what, OF_PROSE, how);
    let mut quoted = vec![
        ("gone", OF_PROSE.to_string()),
        ("later_whole", nats(whole.later)),
        ("first_whole", nats(whole.first)),
        ("later_gone", nats(of("copying", "zero")[0].later)),
        ("later_mean", nats(of("copying", "mean")[0].later)),
        ("later_random", range(of("random", "zero").iter().map(|it| it.later))),
        ("later_same", range(of("same layers", "zero").iter().map(|it| it.later))),
    ];
    let prose = |it: &models::decoders::study::Ablation| it.prose.unwrap();
    quoted.push(("prose_whole", nats(prose(whole))));
    quoted.push(("prose_gone", nats(prose(of("copying", "zero")[0]))));
    quoted.push(("prose_random", range(of("random", "zero").into_iter().map(prose))));
    assert_quote!("a_model_that_writes_removed_values", values(&quoted));
}

#[test]
fn copying_without_the_heads_that_look_back() {
    let findings = findings().unwrap();
    let of = |what: &str| findings.composed.iter().find(|it| it.what == what).unwrap();
    assert_quote!(
        "a_model_that_writes_composed_values",
        values(&[
            ("back_heads", of("previous").heads.to_string()),
            ("back_copying", share(of("previous").copying)),
            ("all_copying", share(of("whole").copying)),
            ("back_prose", nats(of("previous").prose)),
            ("whole_prose", nats(of("whole").prose)),
        ])
    );
}

/// The part of a fall from the whole model's number to another one that a cut takes.
fn part(of: f64, whole: f64, gone: f64) -> f64 {
    (whole - of) / (whole - gone)
}

/// Fixed before the runs: a path carries the effect if it takes more than this part of both.
const WORKING_PART: f64 = 0.5;

#[test]
fn one_path_cut() {
    let all = &findings().unwrap().paths;
    let of = |what: &str, from: &str| -> Vec<&OnePath> {
        all.iter().filter(|it| it.what == what && it.from == from).collect()
    };
    let [whole, gone] = [of("whole", "nothing")[0], of("previous", "everywhere")[0]];
    let parts = |it: &OnePath| {
        let copying = part(it.copying, whole.copying, gone.copying);
        [copying, part(it.later, whole.later, gone.later)]
    };
    let cut = |from| parts(of("previous", from)[0]);
    let controls = [of("other readers", "keys"), of("same layers", "keys")];
    // The keys carry it, the other inputs do not, and no draw of a control takes as much.
    assert!(cut("keys").iter().all(|&part| part > WORKING_PART));
    assert!(
        ["queries", "values"].map(cut).concat().iter().all(|&part| part < WORKING_PART)
    );
    for it in controls.concat() {
        let [copying, later] = parts(it);
        assert!(copying < cut("keys")[0] && later < cut("keys")[1], "{it:?}");
    }
    let others = ends(controls[1].iter().map(|it| parts(it)[0]));
    let carries =
        controls[1].iter().filter(|it| parts(it).iter().all(|&p| p > WORKING_PART));
    assert_eq!(carries.count(), 1, "what the chapter says of the others");
    let mut quoted = vec![
        ("draws".to_owned(), controls[0].len().to_string()),
        ("others_most".to_owned(), percent(others[2])),
        ("others_median".to_owned(), percent(others[1])),
    ];
    for from in ["keys", "queries"] {
        let [copying, later] = cut(from).map(percent);
        quoted.push((format!("{from}_copying"), copying));
        quoted.push((format!("{from}_later"), later));
    }
    assert_quote!("a_model_that_writes_paths_values", values(&quoted));
}

#[test]
fn the_head_that_ends_a_name() {
    let word = &findings().unwrap().words[1];
    let head = format!("{}.{}", word.layer, word.head);
    assert_quote!("a_model_that_writes_words_values", values(&[("name_head", head)]));
}

#[test]
fn windows_with_and_without_the_first_tokens() {
    let windows = &findings().unwrap().windows;
    let whole = windows.iter().find(|it| it.what == "whole").unwrap().loss;
    let mut quoted = vec![
        ("breaks".to_owned(), BREAKS.to_string()),
        ("mends".to_owned(), MENDS.to_string()),
    ];
    for it in windows.iter().filter(|it| it.what == "first" && it.kept < 2) {
        let name = format!("window_{}_{}_times", it.width, it.kept);
        let times = (it.loss - whole).exp();
        assert!(it.kept == 1 || times >= BREAKS, "both windows break the model: {times}");
        quoted.push((name, format!("{times:.2}")));
    }
    assert_quote!("a_model_that_writes_windows_values", values(&quoted));
}

#[test]
fn three_heads_of_keys_and_values_made_one() {
    let merged = &findings().unwrap().merged;
    let perplexity = |loss: f64| attention::thousands(loss.exp().round() as u64);
    let mut quoted =
        vec![("merged_whole".to_owned(), format!("{:.1}", merged.whole.exp()))];
    for way in &merged.ways {
        quoted.push((format!("merged_{}", way.how), perplexity(way.loss)));
    }
    let single = &merged.ways.iter().find(|way| way.how == "mean").unwrap().single;
    let worst = (0..single.len()).max_by(|&a, &b| single[a].total_cmp(&single[b]));
    let worst = worst.unwrap();
    let middle = median(single.iter().map(|loss| loss.exp()));
    quoted.extend([
        ("merged_mean_median".to_owned(), format!("{middle:.1}")),
        ("merged_mean_most".to_owned(), perplexity(single[worst])),
        ("merged_mean_worst".to_owned(), worst.to_string()),
    ]);
    assert_quote!("a_model_that_writes_merged", values(&quoted));
}

/// So many nats more on prose are not noticed: a perplexity a tenth higher. Fixed before
/// looking.
const NOTICED: f64 = 0.095;

#[test]
fn many_heads_taken_away() {
    let findings = findings().unwrap();
    let order = &findings.order;
    let at = |nth: usize, of: &str| {
        let ways = order.ways.iter().chain(&findings.shuffled);
        let ways = ways.filter(|way| way.order == of);
        ways.map(|way| way.losses[nth]).collect::<Vec<f64>>()
    };
    let mut unnoticed = [0, 0, 0];
    for (nth, tenths) in order.tenths.iter().enumerate() {
        let all = ["importance", "within layers", "random"].map(|of| at(nth, of));
        for (most, of) in unnoticed.iter_mut().zip(&all) {
            if median(of.iter().copied()) <= order.whole + NOTICED {
                *most = 10 * tenths;
            }
        }
    }
    let noticed = order.costs.iter().filter(|cost| **cost > NOTICED).count();
    let [important, within, random] = ["importance", "within layers", "random"]
        .map(|of| median(at(order.tenths.len() - 1, of)));
    let by_layers = percent((random - within) / (random - important));
    assert_eq!(unnoticed[1..], [0; 2], "what the chapter says of the controls");
    assert_quote!(
        "a_model_that_writes_order_values",
        values(&[
            ("unnoticed_important", unnoticed[0].to_string()),
            ("by_layers", by_layers),
            ("single_noticed", noticed.to_string()),
            (
                "half_times",
                format!("{:.1}", (at(4, "importance")[0] - order.whole).exp())
            ),
        ])
    );
}
