//! One, two, three and four heads on the lookups.

use ablation::odds::Count;
use attention::{Rng, SeedableRng, thousands};
use lessons::heads_that_specialise::seeds::TRAININGS;
use lessons::heads_that_specialise::{self, lookups, score};
use lessons::numbers::{ends, mean};
use serde_json::Value;
use training::lookups::{LOOKUPS, Lookups, PAIRS};
use training::one_layer::Model;
use workshop::paths;

use super::{ROLES, lost, numbers, percent, points, rows};
use crate::quote::{assert_quote, values};

#[test]
fn ten_seeds_for_each_number_of_heads() {
    let mut quoted = Vec::new();
    for (n_heads, n_steps) in TRAININGS {
        let of = heads_that_specialise::runs(LOOKUPS, n_heads, n_steps).unwrap();
        let all_right = |run: &&Value| numbers(&run["scores"]).iter().all(|&s| s >= 0.99);
        let n_right = Count::of(of.iter().map(|run| all_right(&run)));
        if n_heads == 3 {
            quoted.push(("three_least".to_owned(), percent(n_right.interval()[0])));
        }
        // The title of the figure.
        assert_eq!(n_right.hits(), if n_heads < 3 { 0 } else { 10 }, "{n_heads}");
        if n_heads == 1 {
            let median = ends(of.iter().map(|run| score(run).unwrap()))[1];
            quoted.push((format!("h1_{n_steps}_median"), percent(median)));
        }
    }

    let rng = &mut Rng::seed_from_u64(0);
    let task = Lookups::default();
    let of = |n_heads, rng: &mut Rng| Model::random(&task, n_heads, rng).unwrap();
    let n_parameters = [1, 2, 3, 4, 6, 8].map(|n_heads| of(n_heads, rng).n_parameters());
    assert!(n_parameters.iter().all(|&n| n == n_parameters[0]));
    let schedule = Lookups::schedule(0);
    quoted.extend([
        ("parameters".into(), thousands(n_parameters[0])),
        ("d_model".into(), Lookups::D_MODEL.to_string()),
        ("identities".into(), Lookups::N_IDENTITIES.to_string()),
        ("guess".into(), percent(1.0 / Lookups::N_IDENTITIES as f64)),
        ("steps".into(), thousands(schedule.n_steps)),
        ("batch".into(), schedule.batch.to_string()),
        ("n_test".into(), schedule.n_test.to_string()),
        ("rate".into(), schedule.rate.to_string()),
    ]);
    assert_quote!("heads_that_specialise_heads_values", values(&quoted));
}

#[test]
fn one_head_codes_who_by_size() {
    let of = lookups(1).unwrap();
    let size = |key: &str| ends(of.iter().map(|run| run["sizes"][key].as_f64().unwrap()));
    let medians = ["by_identity", "by_role", "other_role"];
    let mut quoted = medians.map(|key| (key, percent(size(key)[1]))).to_vec();
    let shares = |run: &Value| numbers(&run["sizes"]["mean"]);
    let [least, _, most] = ends(of.iter().flat_map(shares));
    quoted.push(("share_least", format!("{least:.2}")));
    quoted.push(("share_most", format!("{most:.2}")));
    let agent = numbers(&of[0]["by_word"]["exchanged"])[0];
    quoted.push(("pair_agent", agent.to_string()));
    // How large an attention weight it usually gets, in any role.
    let usual = &rows(&of[0]["by_word"]["log_share"])[agent as usize];
    let usual = mean(usual.iter().map(|log| log.exp()));
    quoted.push(("agent_usual", format!("{usual:.2}")));
    assert_quote!("heads_that_specialise_one_head", values(&quoted));
}

/// What becomes of the answers where one of two heads has its shares of two words exchanged or
/// made equal, seed by seed, as `-- swaps` of the example `seeds` of `training` measured it.
fn swaps() -> Vec<Value> {
    let file = paths::workspace().join("crates/2-around/training/data/swaps.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// A head reads a word if it gives it twice an even share or more.
const READS: f64 = 0.2;

/// Of each head that reads two words, the parts of their answers that are right, and that
/// name the other word, with its attention weights on the two made equal.
fn two_in_one(swaps: &Value) -> Vec<[f64; 2]> {
    let (focus, equal) = (rows(&swaps["focus"]), &swaps["equal"]);
    let [right, other] = ["right", "other"].map(|key| rows(&equal[key]));
    let one = |head: usize, nth: usize| {
        let (a, b) = PAIRS[nth];
        let reads = focus[head][a] >= READS && focus[head][b] >= READS;
        reads.then_some([right[head][nth], other[head][nth]])
    };
    let places = (0..2).flat_map(|head| (0..PAIRS.len()).map(move |nth| (head, nth)));
    places.filter_map(|(head, nth)| one(head, nth)).collect()
}

#[test]
fn two_heads_have_two_ways_out() {
    let mut given_up = 0;
    let (mut coin, mut in_both) = (Vec::new(), Vec::new());
    let all_swaps = swaps();
    assert_eq!(all_swaps.len(), 10);
    for (run, swaps) in lookups(2).unwrap().into_iter().zip(all_swaps) {
        let scores = numbers(&run["scores"]);
        for (now, then) in numbers(&swaps["scores"]).iter().zip(&scores) {
            assert!((now - then).abs() < 0.01, "seed {}: another training", run["seed"]);
        }
        let found = two_in_one(&swaps);
        let least = scores.iter().copied().fold(1.0, f64::min);
        let is_given_up = least < 0.05;
        assert_eq!(found.is_empty(), is_given_up);
        given_up += usize::from(is_given_up);
        match &found[..] {
            [[right, other]] => {
                assert!(right + other > 0.97, "nearly all others name the other word");
                coin.push(*right);
            }
            [_, ..] => in_both.push(run["seed"].to_string()),
            [] => {}
        }
    }
    let [coin_least, _, coin_most] = ends(coin.clone()).map(percent);
    let quoted = [
        ("given_up", given_up.to_string()),
        ("shared", coin.len().to_string()),
        ("coin_least", coin_least),
        ("coin_most", coin_most),
        ("in_both", in_both.join(", ")),
    ];
    assert_quote!("heads_that_specialise_two_heads_values", values(&quoted));
}

#[test]
fn three_heads_before_and_after() {
    let of = lookups(3).unwrap();
    let mut orders = Vec::new();
    for run in &of {
        let mut heads = numbers(&run["attending"]);
        orders.push(heads.iter().map(|&head| head as usize).collect::<Vec<_>>());
        heads.sort_by(f64::total_cmp);
        assert_eq!(heads, [0.0, 1.0, 2.0], "one head per word");
    }
    // The title of the figure: which head takes which word is chance.
    assert!(orders.iter().any(|order| *order != orders[0]));

    let steps = numbers(&of[0]["curve"]["step"]);
    let arrived = |run: &Value| {
        let scores = numbers(&run["curve"]["score"]);
        steps[scores.iter().position(|&score| score >= 0.99).unwrap()]
    };
    let last = ends(of.iter().map(arrived))[2];
    let before = of.iter().flat_map(|run| rows(&run["focus_before"]).concat());
    let quoted =
        [("before_most", format!("{:.3}", ends(before)[2])), ("last", last.to_string())];
    assert_quote!("heads_that_specialise_three_heads", values(&quoted));
}

#[test]
fn a_fourth_head_doubles_another() {
    let of = lookups(4).unwrap();
    // The title of the figure.
    let (focus, without) = (rows(&of[0]["focus"]), lost(&of[0]));
    let two = (0..4).filter(|&head| focus[head][1] > 0.9 && without[head][1] < 0.5);
    assert_eq!(two.count(), 2, "heads on the object");

    let greatest = |row: &mut dyn Iterator<Item = f64>| row.fold(0.0, f64::max);
    // The word that two heads look for, and what it loses with the better of the two.
    let doubled = of.iter().map(|run| {
        let lost = lost(run);
        let with_best = |r: usize| greatest(&mut lost.iter().map(|row| row[r]));
        (0..3).map(with_best).fold(1.0, f64::min)
    });
    let [least, _, most] = ends(doubled).map(points);

    // The head whose loss harms its word least.
    let mut idle = (1.0, 0, 0);
    for (seed, run) in of.iter().enumerate() {
        for (head, row) in lost(run).iter().enumerate() {
            let cost = greatest(&mut row.iter().copied());
            if cost < idle.0 {
                idle = (cost, seed, head);
            }
        }
    }
    let (cost, seed, head) = idle;
    let focus = rows(&of[seed]["focus"])[head].clone();
    let word = (1..3).fold(0, |best, r| if focus[r] > focus[best] { r } else { best });
    let quoted = [
        ("doubled_least", least),
        ("doubled_most", most),
        ("idle_seed", seed.to_string()),
        ("idle_head", head.to_string()),
        ("idle_lost", points(cost)),
        ("idle_word", ROLES[word].to_owned()),
        ("idle_share", format!("{:.2}", focus[word])),
    ];
    assert_quote!("heads_that_specialise_four_heads", values(&quoted));
}
