//! What was found about the heads of SmolLM2.

use attention::median;
use lessons::a_model_that_writes::ablated::{COUNTS, OF_PROSE, ablations};
use lessons::a_model_that_writes::patterns::{
    MOST, PATTERNS, above, even_copying, shares,
};
use lessons::a_model_that_writes::{findings, next};
use lessons::numbers::{ends, share};
use models::decoders::study::{COPIES, Findings, OnePath, PERIOD};

use crate::quote::{Table, assert_quote, percent, values};

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
    let mut table = Table::new(["", "heads", "the most"]);
    for (pattern, name) in PATTERNS {
        let found = above(&shares(heads, pattern).unwrap(), MOST);
        let told: Vec<String> = found
            .iter()
            .take(4)
            .map(|(layer, head, of)| format!("{layer}.{head} {}", share(*of)))
            .collect();
        table.row([name.to_owned(), found.len().to_string(), told.join(", ")]);
        quoted.push((pattern.to_owned(), found.len().to_string()));
        let all = above(&shares(heads, pattern).unwrap(), 0.0);
        let (layer, head, of) = all[0];
        quoted.push((format!("{pattern}_best"), format!("{layer}.{head}")));
        quoted.push((format!("{pattern}_best_share"), share(of)));
        let layers = found.iter().map(|(layer, ..)| *layer);
        if let (Some(first), Some(last)) = (layers.clone().min(), layers.max()) {
            quoted.push((format!("{pattern}_layers"), format!("{first} to {last}")));
        }
    }
    // Of those that copy on random text, the ones that give most to the first token on prose.
    let (copying, first) =
        (shares(heads, "copying").unwrap(), shares(heads, "first").unwrap());
    let waits =
        copying.iter().zip(&first).filter(|(copied, of)| **copied > MOST && **of > MOST);
    quoted.push(("copying_waits".to_owned(), waits.count().to_string()));
    assert_quote!("a_model_that_writes_patterns", table.text());
    assert_quote!("a_model_that_writes_patterns_values", values(&quoted));
}

#[test]
fn copying_heads_taken_away() {
    let findings = findings().unwrap();
    let whole = ablations(findings, "whole", 0, "zero")[0];
    let mut table = Table::new(["heads", "most copying", "same layers", "random"]);
    table.row(["0", &nats(whole.later), "", ""]);
    for n in &COUNTS[..4] {
        let later =
            |what| ablations(findings, what, *n, "zero").into_iter().map(|it| it.later);
        table.row([
            n.to_string(),
            nats(later("copying").next().unwrap()),
            range(later("same layers")),
            range(later("random")),
        ]);
    }
    let of = |what, how| ablations(findings, what, OF_PROSE, how);
    let mut quoted = vec![
        ("gone", OF_PROSE.to_string()),
        ("later_whole", nats(whole.later)),
        ("first_whole", nats(whole.first)),
        ("later_gone", nats(of("copying", "zero")[0].later)),
        ("first_gone", nats(of("copying", "zero")[0].first)),
        ("later_mean", nats(of("copying", "mean")[0].later)),
        ("later_random", range(of("random", "zero").iter().map(|it| it.later))),
        ("later_random_mean", range(of("random", "mean").iter().map(|it| it.later))),
        ("later_same", range(of("same layers", "zero").iter().map(|it| it.later))),
    ];
    let prose = |it: &models::decoders::study::Ablation| it.prose.unwrap();
    quoted.push(("prose_whole", nats(prose(whole))));
    quoted.push(("prose_gone", nats(prose(of("copying", "zero")[0]))));
    quoted.push(("prose_random", range(of("random", "zero").into_iter().map(prose))));
    let costs = of("random", "zero").into_iter().map(|it| it.later - whole.later);
    quoted.push(("random_costs", range(costs)));
    assert_quote!("a_model_that_writes_removed", table.text());
    assert_quote!("a_model_that_writes_removed_values", values(&quoted));
}

#[test]
fn copying_without_the_heads_that_look_back() {
    let findings = findings().unwrap();
    let mut table = Table::new(["", "copying", "later copies", "prose"]);
    for (what, name) in [
        ("whole", "nothing"),
        ("previous", "7 that look back on random text"),
        ("previous on prose", "4 that look back on prose"),
        ("same layers", "7 others of the same layers"),
        ("random", "7 random ones"),
    ] {
        let of: Vec<_> = findings.composed.iter().filter(|it| it.what == what).collect();
        // The name says how many.
        let n = of[0].heads.to_string();
        assert!(n == "0" || name.starts_with(&n), "{name}: {n}");
        if let [one] = of[..] {
            table.row([name, &share(one.copying), &nats(one.later), &nats(one.prose)]);
            continue;
        }
        let [least, _, most] = ends(of.iter().map(|it| it.copying)).map(share);
        let copying = format!("{least} to {most}");
        let [later, prose] =
            [range(of.iter().map(|it| it.later)), range(of.iter().map(|it| it.prose))];
        table.row([name, &copying, &later, &prose]);
    }
    assert_quote!("a_model_that_writes_composed", table.text());
    let of = |what: &str| findings.composed.iter().find(|it| it.what == what).unwrap();
    let same = findings.composed.iter().filter(|it| it.what == "same layers");
    assert_quote!(
        "a_model_that_writes_composed_values",
        values(&[
            ("back_heads", of("previous").heads.to_string()),
            ("back_prose_heads", of("previous on prose").heads.to_string()),
            ("back_copying", share(of("previous").copying)),
            ("all_copying", share(of("whole").copying)),
            ("same_least", share(ends(same.map(|it| it.copying))[0])),
        ])
    );
}

/// The part of a fall from the whole model's number to another one that a cut takes.
fn part(of: f64, whole: f64, gone: f64) -> f64 {
    (whole - of) / (whole - gone)
}

/// Fixed before the runs: a path carries the effect if it takes more than this part of both.
const CARRIES: f64 = 0.5;

#[test]
fn one_path_cut() {
    let all = &findings().unwrap().paths;
    let of = |what: &str, from: &str| -> Vec<&OnePath> {
        all.iter().filter(|it| it.what == what && it.from == from).collect()
    };
    let mut table = Table::new(["", "copying", "later copies"]);
    for (what, from, name) in [
        ("whole", "nothing", "nothing is missing"),
        ("previous", "everywhere", "7 that look back, missing everywhere"),
        ("previous", "keys", "  in the keys of copying heads alone"),
        ("previous", "queries", "  in their queries alone"),
        ("previous", "values", "  in their values alone"),
        ("other readers", "keys", "  in the keys of others of their layers"),
        ("same layers", "keys", "7 others, in the keys of copying heads"),
    ] {
        let of = of(what, from);
        assert!(of.iter().all(|it| it.heads == 0 || it.heads == 7), "{name}");
        let (copying, later) = match of[..] {
            [one] => (share(one.copying), nats(one.later)),
            _ => {
                let [least, _, most] = ends(of.iter().map(|it| it.copying)).map(share);
                (format!("{least} to {most}"), range(of.iter().map(|it| it.later)))
            }
        };
        table.row([name.to_owned(), copying, later]);
    }
    assert_quote!("a_model_that_writes_paths", table.text());
    let [whole, gone] = [of("whole", "nothing")[0], of("previous", "everywhere")[0]];
    let parts = |it: &OnePath| {
        let copying = part(it.copying, whole.copying, gone.copying);
        [copying, part(it.later, whole.later, gone.later)]
    };
    let cut = |from| parts(of("previous", from)[0]);
    let controls = [of("other readers", "keys"), of("same layers", "keys")];
    // The keys carry it, the other inputs do not, and no draw of a control takes as much.
    assert!(cut("keys").iter().all(|&part| part > CARRIES));
    assert!(["queries", "values"].map(cut).concat().iter().all(|&part| part < CARRIES));
    for it in controls.concat() {
        let [copying, later] = parts(it);
        assert!(copying < cut("keys")[0] && later < cut("keys")[1], "{it:?}");
    }
    let others = ends(controls[1].iter().map(|it| parts(it)[0]));
    let carries = controls[1].iter().filter(|it| parts(it).iter().all(|&p| p > CARRIES));
    let mut quoted = vec![
        ("draws".to_owned(), controls[0].len().to_string()),
        ("others_most".to_owned(), percent(others[2])),
        ("others_median".to_owned(), percent(others[1])),
        ("others_carry".to_owned(), carries.count().to_string()),
    ];
    for from in ["keys", "queries", "values"] {
        let [copying, later] = cut(from).map(percent);
        quoted.push((format!("{from}_copying"), copying));
        quoted.push((format!("{from}_later"), later));
    }
    assert_quote!("a_model_that_writes_paths_values", values(&quoted));
}

#[test]
fn names_that_stood_there_before() {
    let words = &findings().unwrap().words;
    let mut table = Table::new(["", "never said", "said twice", "no copying", "random"]);
    for word in words {
        let name = format!("Durs|{}", word.end.trim());
        let random = range(word.random.iter().copied());
        let [alone, whole, without] = [word.alone, word.whole, word.without].map(nats);
        table.row([name, alone, whole, without, random]);
    }
    assert_quote!("a_model_that_writes_words", table.text());
    // A name that the model knows without any mention survives without the heads that copy;
    // no other does, and random heads are missed by none.
    let is_unlikely = |loss: &f64| *loss > 3.0;
    let known = words.iter().filter(|word| !is_unlikely(&word.alone));
    assert_eq!(known.count(), 1);
    for word in words {
        assert_eq!(is_unlikely(&word.without), is_unlikely(&word.alone), "{}", word.end);
        assert!(!word.random.iter().any(is_unlikely), "{}", word.end);
    }
    let head = format!("{}.{}", words[1].layer, words[1].head);
    assert_quote!("a_model_that_writes_words_values", values(&[("name_head", head)]));
}

/// A window breaks the model if its perplexity is at least this many times the whole
/// model's, and keeping tokens mends it if at most the other. Fixed before looking.
const BREAKS: f64 = 1.5;
const MENDS: f64 = 1.1;

#[test]
fn windows_with_and_without_the_first_tokens() {
    let windows = &findings().unwrap().windows;
    let of = |what: &str, width: usize, kept: usize| {
        let of = windows.iter().filter(|it| {
            it.what == what && it.kept == kept && (what == "whole" || it.width == width)
        });
        of.map(|it| it.loss.exp()).collect::<Vec<f64>>()
    };
    let perplexity = |x: f64| format!("{x:.1}");
    let whole = of("whole", 0, 0)[0];
    let mut table = Table::new(["", "window 256", "window 64"]);
    let mut quoted = vec![
        ("perplexity_whole".to_owned(), perplexity(whole)),
        ("breaks".to_owned(), BREAKS.to_string()),
        ("mends".to_owned(), MENDS.to_string()),
    ];
    for (kept, name) in [(0, "none kept"), (1, "the first kept"), (4, "the first 4 kept")]
    {
        let [wide, narrow] = [256, 64].map(|width| of("first", width, kept)[0]);
        table.row([name.to_owned(), perplexity(wide), perplexity(narrow)]);
        for (width, it) in [(256, wide), (64, narrow)] {
            quoted.push((format!("window_{width}_{kept}"), perplexity(it)));
            quoted.push((
                format!("window_{width}_{kept}_times"),
                format!("{:.2}", it / whole),
            ));
        }
    }
    let elsewhere = [256, 64].map(|width| {
        let [least, _, most] = ends(of("elsewhere", width, 4)).map(perplexity);
        format!("{least} to {most}")
    });
    let [wide, narrow] = elsewhere;
    table.row(["4 others kept".to_owned(), wide, narrow]);
    assert_quote!("a_model_that_writes_windows", table.text());
    assert_quote!("a_model_that_writes_windows_values", values(&quoted));
}

#[test]
fn three_heads_of_keys_and_values_made_one() {
    let merged = &findings().unwrap().merged;
    let perplexity = |loss: f64| attention::thousands(loss.exp().round() as u64);
    let mut quoted =
        vec![("merged_whole".to_owned(), format!("{:.1}", merged.whole.exp()))];
    for way in &merged.ways {
        let how = &way.how;
        quoted.push((format!("merged_{how}"), perplexity(way.loss)));
        let [least, middle, most] = ends(way.single.iter().map(|loss| loss.exp()));
        quoted.push((format!("merged_{how}_least"), format!("{least:.1}")));
        quoted.push((format!("merged_{how}_median"), format!("{middle:.1}")));
        quoted.push((format!("merged_{how}_most"), perplexity(most.ln())));
        let worst = (0..way.single.len())
            .max_by(|&a, &b| way.single[a].total_cmp(&way.single[b]))
            .unwrap();
        quoted.push((format!("merged_{how}_worst"), worst.to_string()));
    }
    assert_quote!("a_model_that_writes_merged", values(&quoted));
}

/// So many nats more on prose are not noticed: a perplexity a tenth higher. Fixed before
/// looking.
const NOTICED: f64 = 0.095;

#[test]
fn many_heads_taken_away() {
    let findings = findings().unwrap();
    let order = &findings.order;
    let mut table = Table::new(["gone", "least important", "within layers", "random"]);
    table.row(["0 %", &nats(order.whole), "", ""]);
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
        let [important, within, random] = all;
        table.row([
            format!("{} %", 10 * tenths),
            nats(important[0]),
            range(within),
            range(random),
        ]);
    }
    let mut costs: Vec<(usize, f64)> = order.costs.iter().copied().enumerate().collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = |(head, cost): (usize, f64)| (format!("{}.{}", head / 9, head % 9), cost);
    let (worst, cost) = named(costs[0]);
    let noticed = order.costs.iter().filter(|cost| **cost > NOTICED).count();
    let better = order.costs.iter().filter(|cost| **cost < 0.0).count();
    let [important, within, random] = ["importance", "within layers", "random"]
        .map(|of| median(at(order.tenths.len() - 1, of)));
    let by_layers = percent((random - within) / (random - important));
    assert_quote!("a_model_that_writes_order", table.text());
    assert_quote!(
        "a_model_that_writes_order_values",
        values(&[
            ("unnoticed_important", unnoticed[0].to_string()),
            ("unnoticed_within", unnoticed[1].to_string()),
            ("unnoticed_random", unnoticed[2].to_string()),
            ("by_layers", by_layers),
            ("single_worst", worst),
            ("single_worst_cost", nats(cost)),
            ("single_noticed", noticed.to_string()),
            ("single_better", better.to_string()),
            (
                "half_times",
                format!("{:.1}", (at(4, "importance")[0] - order.whole).exp())
            ),
        ])
    );
}

#[test]
fn what_may_come_next() {
    let all: &Findings = findings().unwrap();
    let mut table = Table::new(["", "logit", "T = 1", "T = 0.5", "T = 2"]);
    let prompt = &all.next[0];
    let at = [1.0, 0.5, 2.0].map(|temperature| next::probabilities(prompt, temperature));
    for (nth, piece) in prompt.pieces.iter().enumerate().take(6) {
        let logit = format!("{:.2}", prompt.logits[nth]);
        let [at_1, at_half, at_2] = at.each_ref().map(|shares| share(shares[nth]));
        table.row([piece.trim(), &logit, &at_1, &at_half, &at_2]);
    }
    assert_quote!("a_model_that_writes_next", table.text());
    assert_quote!(
        "a_model_that_writes_next_values",
        values(&[
            ("prompt", prompt.prompt.clone()),
            ("kept", prompt.pieces.len().to_string()),
            ("kept_share", share(prompt.share)),
        ])
    );
}
