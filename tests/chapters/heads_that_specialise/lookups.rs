//! One, two, three and four heads on the lookups.

use ablation::odds::Count;
use attention::{Rng, SeedableRng, thousands};
use lessons::heads_that_specialise::{self, lookups, score};
use lessons::numbers::{ends, mean};
use serde_json::Value;
use training::lookups::{LOOKUPS, Lookups, PAIRS};
use training::one_layer::Model;
use workshop::paths;

use super::{ROLES, by_role, lost, numbers, percent, points, rows};
use crate::quote::{Table, assert_quote, values};

#[test]
fn ten_seeds_for_each_number_of_heads() {
    let mut table = Table::new([
        "heads",
        "steps",
        "least",
        "median",
        "most",
        "seeds with all ≥ 99 %",
    ]);
    let mut quoted = Vec::new();
    for (n_heads, n_steps) in
        [(1, 1000), (1, 4000), (2, 1000), (3, 1000), (4, 1000), (6, 1000), (8, 1000)]
    {
        let of = heads_that_specialise::runs(LOOKUPS, n_heads, n_steps).unwrap();
        let all_right = |run: &&Value| numbers(&run["scores"]).iter().all(|&s| s >= 0.99);
        let n_right = Count::of(of.iter().map(|run| all_right(&run)));
        if n_heads == 3 {
            quoted.push(("three_least".to_owned(), percent(n_right.interval()[0])));
        }
        let n_right = n_right.hits().to_string();
        let scores = of.iter().map(|run| score(run).unwrap());
        let [least, median, most] = ends(scores).map(percent);
        let [heads, steps] = [n_heads, n_steps].map(|n| n.to_string());
        table.row([&heads, &steps, &least, &median, &most, &n_right]);
        for (name, value) in [("least", least), ("median", median), ("most", most)] {
            quoted.push((format!("h{n_heads}_{n_steps}_{name}"), value));
        }
    }
    assert_quote!("heads_that_specialise_heads", table.text());

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
        ("seen".into(), thousands(schedule.n_steps * schedule.batch)),
        ("n_test".into(), schedule.n_test.to_string()),
        ("rate".into(), schedule.rate.to_string()),
    ]);
    assert_quote!("heads_that_specialise_heads_values", values(&quoted));
}

#[test]
fn one_head_codes_who_by_size() {
    let of = lookups(1).unwrap();
    let size = |key: &str| ends(of.iter().map(|run| run["sizes"][key].as_f64().unwrap()));
    let mut table = Table::new(["", "median of ten seeds"]);
    for (key, what) in [
        ("by_identity", "variance of log shares explained by identity"),
        ("by_role", "explained by role"),
        ("as_is", "right with its own shares"),
        ("equal", "right with the three shares made equal"),
        ("exchanged", "two shares exchanged: answers that name the other word"),
        ("other_role", "mistakes that name another of the three words"),
    ] {
        table.row([what, &percent(size(key)[1])]);
    }
    assert_quote!("heads_that_specialise_sizes", table.text());
    let mut quoted = Vec::new();
    let shares = |run: &Value| numbers(&run["sizes"]["mean"]);
    let [least, _, most] = ends(of.iter().flat_map(shares));
    quoted.push(("share_least", format!("{least:.2}")));
    quoted.push(("share_most", format!("{most:.2}")));
    let pair = numbers(&of[0]["by_word"]["exchanged"]);
    quoted.push(("pair_agent", pair[0].to_string()));
    quoted.push(("pair_object", pair[1].to_string()));
    // How large a share each of the two usually gets, in any role.
    let usual = &rows(&of[0]["by_word"]["log_share"]);
    for (name, who) in ["agent_usual", "object_usual"].into_iter().zip(pair) {
        let share = mean(usual[who as usize].iter().map(|log| log.exp()));
        quoted.push((name, format!("{share:.2}")));
    }
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

/// A head that reads two words, and the share of their answers that are right, and that name
/// the other word, with its shares of the two made equal.
struct TwoInOne {
    head: usize,
    words: String,
    equal: [f64; 2],
}

impl TwoInOne {
    fn all(swaps: &Value) -> Vec<Self> {
        let (focus, equal) = (rows(&swaps["focus"]), &swaps["equal"]);
        let [right, other] = ["right", "other"].map(|key| rows(&equal[key]));
        let one = |head: usize, nth: usize| {
            let (a, b) = PAIRS[nth];
            let reads = focus[head][a] >= READS && focus[head][b] >= READS;
            let words = format!("{} and {}", ROLES[a], ROLES[b]);
            let equal = [right[head][nth], other[head][nth]];
            reads.then_some(Self { head, words, equal })
        };
        let places = (0..2).flat_map(|head| (0..PAIRS.len()).map(move |nth| (head, nth)));
        places.filter_map(|(head, nth)| one(head, nth)).collect()
    }

    fn cell(&self) -> String {
        let [right, other] = self.equal.map(|part| format!("{:.0}", 100.0 * part));
        format!("head {}, {}: {right} : {other}", self.head, self.words)
    }
}

#[test]
fn two_heads_have_two_ways_out() {
    let mut table = Table::new([
        "seed",
        "agent",
        "object",
        "place",
        "mean",
        "two words in one head, made equal",
    ]);
    let (mut given_up, mut shared) = (Vec::new(), Vec::new());
    let (mut coin, mut in_both) = (Vec::new(), Vec::new());
    let all_swaps = swaps();
    assert_eq!(all_swaps.len(), 10);
    for (run, swaps) in lookups(2).unwrap().into_iter().zip(all_swaps) {
        let scores = numbers(&run["scores"]);
        for (now, then) in numbers(&swaps["scores"]).iter().zip(&scores) {
            assert!((now - then).abs() < 0.01, "seed {}: another training", run["seed"]);
        }
        let found = TwoInOne::all(&swaps);
        let cells: Vec<String> = found.iter().map(TwoInOne::cell).collect();
        let cells = if cells.is_empty() { "none".to_owned() } else { cells.join("; ") };
        let [agent, object, place] = [0, 1, 2].map(|r| percent(scores[r]));
        let mean = score(&run).unwrap();
        let seed = run["seed"].to_string();
        table.row([seed, agent, object, place, percent(mean), cells]);
        let least = scores.iter().copied().fold(1.0, f64::min);
        let is_given_up = least < 0.05;
        assert_eq!(found.is_empty(), is_given_up);
        if is_given_up {
            given_up.push(mean)
        } else {
            shared.push(mean)
        }
        match &found[..] {
            [one] => coin.push(one.equal[0]),
            [_, ..] => in_both.push(run["seed"].to_string()),
            [] => {}
        }
    }
    assert_quote!("heads_that_specialise_two_heads", table.text());
    let [[_, given, _], [least, _, most]] =
        [ends(given_up.clone()), ends(shared.clone())];
    let [coin_least, _, coin_most] = ends(coin.clone()).map(percent);
    let quoted = [
        ("given_up", given_up.len().to_string()),
        ("given_up_score", percent(given)),
        ("shared", coin.len().to_string()),
        ("shared_least", percent(least)),
        ("shared_most", percent(most)),
        ("coin_least", coin_least),
        ("coin_most", coin_most),
        ("in_both", in_both.join(", ")),
    ];
    assert_quote!("heads_that_specialise_two_heads_values", values(&quoted));
}

#[test]
fn three_heads_before_and_after() {
    let of = lookups(3).unwrap();
    let share = |share: f64| format!("{share:.3}");
    assert_quote!(
        "heads_that_specialise_before",
        by_role(&rows(&of[0]["focus_before"]), share).text()
    );
    assert_quote!(
        "heads_that_specialise_after",
        by_role(&rows(&of[0]["focus"]), share).text()
    );

    let mut orders = Vec::new();
    for run in &of {
        let mut heads = numbers(&run["attending"]);
        orders.push(heads.iter().map(|&head| head as usize).collect::<Vec<_>>());
        heads.sort_by(f64::total_cmp);
        assert_eq!(heads, [0.0, 1.0, 2.0], "one head per word");
    }
    let agents = [0, 1, 2].map(|head| orders.iter().filter(|o| o[0] == head).count());
    orders.sort();
    orders.dedup();

    let steps = numbers(&of[0]["curve"]["step"]);
    let arrived = |run: &Value| {
        let scores = numbers(&run["curve"]["score"]);
        steps[scores.iter().position(|&score| score >= 0.99).unwrap()]
    };
    let [first, _, last] = ends(of.iter().map(arrived));
    let before = of.iter().flat_map(|run| rows(&run["focus_before"]).concat());
    let quoted = [
        ("orders", orders.len().to_string()),
        ("before_most", share(ends(before)[2])),
        ("agent_by_0", agents[0].to_string()),
        ("agent_by_1", agents[1].to_string()),
        ("agent_by_2", agents[2].to_string()),
        ("first", first.to_string()),
        ("last", last.to_string()),
    ];
    assert_quote!("heads_that_specialise_three_heads", values(&quoted));
}

#[test]
fn a_fourth_head_doubles_another() {
    let of = lookups(4).unwrap();
    let share = |x: f64| format!("{x:.3}");
    assert_quote!(
        "heads_that_specialise_four_focus",
        by_role(&rows(&of[0]["focus"]), share).text()
    );
    assert_quote!(
        "heads_that_specialise_four_removal",
        by_role(&lost(&of[0]), points).text()
    );

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
