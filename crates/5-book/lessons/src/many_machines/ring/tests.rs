//! The ring against loops over pairs and clocks, and against the model of `distributed`.

use attention::Dims;
use distributed::{Link, Model, Speed, Split};

use super::*;
use crate::live::Settings;
use crate::many_machines::turns::slowest;

const CUTS: [&str; 3] = ["order", "chunks", "stripes"];

fn at(pairs: &[(&str, &str)]) -> LiveView<Facts> {
    LIVE.at(pairs.iter().copied()).unwrap()
}

/// Which rank has a token, by its number.
fn rank_of(cut: &str, token: usize, n: usize, p: usize) -> usize {
    let part = |n_parts: usize| {
        let begins = |i: usize| i * (n / n_parts) + i.min(n % n_parts);
        (0..n_parts).find(|&i| (begins(i)..begins(i + 1)).contains(&token)).unwrap()
    };
    match cut {
        "order" => part(p),
        "chunks" => part(2 * p).min(2 * p - 1 - part(2 * p)),
        _ => token % p,
    }
}

/// The most bytes that a rank sends at a step, and in all: each passes on what it has.
fn by_messages(cut: &str, n: usize, p: usize) -> [usize; 2] {
    let mut held: Vec<usize> =
        (0..p).map(|r| (0..n).filter(|&i| rank_of(cut, i, n, p) == r).count()).collect();
    let (mut most, mut sent) = (0, vec![0; p]);
    for _ in 1..p {
        for (sent, held) in sent.iter_mut().zip(&held) {
            *sent += held;
            most = most.max(*held);
        }
        held.rotate_right(1);
    }
    // A key and a value, 512 numbers of 4 bytes each.
    [most, sent.into_iter().max().unwrap()].map(|tokens| tokens * 2 * 512 * 4)
}

/// Of the ranks' time, the parts in which they wait for each other and for messages; and the
/// pairs, by step and rank: each pair is looked at, and each rank has a clock.
fn by_clocks(cut: &str, n: usize, p: usize, is_causal: bool, link: f64) -> Vec<f64> {
    let mut pairs = vec![0.0; p * p];
    let mut n_keys = vec![0.0f64; p];
    for i in 0..n {
        n_keys[rank_of(cut, i, n, p)] += 1.0;
        for j in (0..n).filter(|&j| !is_causal || j <= i) {
            let [r, from] = [i, j].map(|token| rank_of(cut, token, n, p));
            let step = (0..p).find(|step| (from + step) % p == r).unwrap();
            pairs[step * p + r] += 1.0;
        }
    }
    let adds_a_pair = 2.0 * 512.0;
    let travels = n_keys.iter().copied().fold(0.0, f64::max) * 2.0 * 512.0 * 4.0 * link;
    let (mut clock, mut for_ranks, mut for_messages) = (0.0, 0.0, 0.0);
    for (step, pairs) in pairs.chunks(p).enumerate() {
        let done: Vec<f64> = pairs.iter().map(|it| clock + it * adds_a_pair).collect();
        let last = done.iter().copied().fold(0.0, f64::max);
        let arrived = if step + 1 < p { clock + travels } else { clock };
        for_ranks += done.iter().map(|it| last - it).sum::<f64>() / p as f64;
        for_messages += (arrived - last).max(0.0);
        clock = last.max(arrived);
    }
    [&[for_ranks / clock, for_messages / clock][..], &pairs].concat()
}

#[test]
fn pairs_and_waiting_are_those_of_the_clocks() {
    for cut in CUTS {
        for (n, p, link) in [(64, 4, 1), (64, 8, 3), (61, 5, 0), (16, 8, 9), (100, 2, 40)]
        {
            for causal in [true, false] {
                let set = Set { cut, causal, tokens: n, ranks: p, link, ..Set::first() };
                let view = draw(&set).unwrap();
                let Facts { for_ranks, for_messages, sent, pairs } = view.facts;
                assert_eq!(sent, by_messages(cut, n, p), "{cut}, {n}, {p}");
                let expected = by_clocks(cut, n, p, causal, link as f64);
                let pairs = pairs.concat().into_iter().map(|it| it as f64);
                let found: Vec<f64> =
                    [for_ranks, for_messages].into_iter().chain(pairs).collect();
                assert_eq!(found.len(), expected.len());
                for (nth, (a, b)) in found.iter().zip(&expected).enumerate() {
                    let what = format!("{cut}, {n}, {p}, {link}, {causal}, number {nth}");
                    assert!((a - b).abs() < 1e-12, "{what}: {a} and not {b}");
                }
            }
        }
    }
}

/// Without a mask, bytes and waiting are what `distributed` predicts for tokens apart: that
/// its bytes are those that are sent is tested there.
#[test]
fn without_a_mask_the_model_of_the_cluster_says_the_same() {
    for (n, p, link) in [(64, 4, 1), (64, 4, 6), (64, 8, 3), (256, 2, 50)] {
        let model = Model {
            dims: Dims::new(512, 8).unwrap(),
            n_kv_heads: 8,
            lengths: (1, n),
            is_causal: false,
            bytes: 4,
            speed: Speed { products: f64::INFINITY, attention: 1.0 },
            sum: Link { latency: 0.0, bandwidth: f64::INFINITY },
            ring: Link { latency: 0.0, bandwidth: 1.0 / link as f64 },
        };
        let predicted = model.predict(Split::Tokens, p).unwrap();
        for cut in CUTS {
            let set =
                Set { cut, tokens: n, ranks: p, link, causal: false, ..Set::first() };
            let view = draw(&set).unwrap();
            assert_eq!(view.facts.for_ranks, 0.0, "{cut}");
            assert_eq!(view.facts.sent[1] as u64, predicted.bytes, "{cut}");
            let waiting = predicted.waiting / predicted.seconds();
            let found = view.facts.for_messages;
            assert!((found - waiting).abs() < 1e-12, "{cut}: {found}, {waiting}");
        }
    }
}

/// What the chapter says of 64 tokens on 4 ranks, and what follows for the time.
#[test]
fn at_first_it_is_the_left_table_of_the_chapter() {
    let view = at(&[]);
    let cut = in_a_row(64, 4);
    let [took, even] = slowest(&pairs(&cut));
    assert!((view.facts.for_ranks - (1.0 - even / took)).abs() < 1e-12);
    assert_eq!(view.facts.pairs, pairs(&cut));
}

/// Many ranks with blocks in order come near a half; with two chunks nobody waits.
#[test]
fn blocks_in_order_wait_for_a_half() {
    let waits = |cut: &[Vec<usize>]| Waiting::of(&pairs(cut), 0.0).for_ranks;
    let in_order = [2, 4, 8, 64].map(|p| waits(&in_a_row(1024, p)));
    assert!(in_order.windows(2).all(|pair| pair[0] < pair[1]), "{in_order:?}");
    assert!((0.48..0.5).contains(&in_order[3]), "{in_order:?}");
    for p in [2, 4, 8, 64] {
        assert_eq!(waits(&in_two_chunks(1024, p)), 0.0);
        let stripes = waits(&in_stripes(1024, p));
        assert!(stripes > 0.0 && stripes < 0.12, "{p}: {stripes}");
    }
}

#[test]
fn what_is_said_at_first_and_elsewhere() {
    let all = [
        at(&[]),
        at(&[("step", "0")]),
        at(&[("cut", "chunks"), ("step", "3")]),
        at(&[("cut", "stripes"), ("step", "7")]),
        at(&[("ranks", "8"), ("step", "5")]),
        at(&[("causal", "off"), ("ranks", "3"), ("link", "1000")]),
        at(&[("tokens", "4096"), ("link", "8")]),
        at(&[("tokens", "16"), ("ranks", "7"), ("cut", "chunks")]),
    ];
    let said: Vec<String> =
        all.iter().map(|it| format!("{}: {}", it.figure.title(), it.words)).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    Ring attention of 64 tokens, 512 wide, on 4 ranks, in order, causal: At step 1 (of 0 to 3) each rank has the keys and values of the rank before it, and ranks compute from 0 to 256 pairs. Over all steps, ranks wait 42.5 % of their time for each other and 0 % for messages. A rank sends 66 kB a step and 197 kB in all.
    Ring attention of 64 tokens, 512 wide, on 4 ranks, in order, causal: At step 0 (of 0 to 3) each rank has its own keys and values, and all compute 136 pairs. Over all steps, ranks wait 42.5 % of their time for each other and 0 % for messages. A rank sends 66 kB a step and 197 kB in all.
    Ring attention of 64 tokens, 512 wide, on 4 ranks, two chunks each, causal: At step 3 (of 0 to 3) each rank has the keys and values of the rank 3 places before it, and all compute 128 pairs. Over all steps, ranks wait 0 % of their time for each other and 0 % for messages. A rank sends 66 kB a step and 197 kB in all.
    Ring attention of 64 tokens, 512 wide, on 4 ranks, in stripes, causal: At step 3 (of 0 to 3) each rank has the keys and values of the rank 3 places before it, and ranks compute from 120 to 136 pairs. Over all steps, ranks wait 4.4 % of their time for each other and 0 % for messages. A rank sends 66 kB a step and 197 kB in all.
    Ring attention of 64 tokens, 512 wide, on 8 ranks, in order, causal: At step 5 (of 0 to 7) each rank has the keys and values of the rank 5 places before it, and ranks compute from 0 to 64 pairs. Over all steps, ranks wait 46.3 % of their time for each other and 0 % for messages. A rank sends 33 kB a step and 229 kB in all.
    Ring attention of 64 tokens, 512 wide, on 3 ranks, in order, without a mask: At step 1 (of 0 to 2) each rank has the keys and values of the rank before it, and ranks compute from 441 to 462 pairs. Over all steps, ranks wait 0 % of their time for each other and 99.2 % for messages. A rank sends 90 kB a step and 176 kB in all, at most.
    Ring attention of 4,096 tokens, 512 wide, on 4 ranks, in order, causal: At step 1 (of 0 to 3) each rank has the keys and values of the rank before it, and ranks compute from 0 to 1,048,576 pairs. Over all steps, ranks wait 42.9 % of their time for each other and 0 % for messages. A rank sends 4,194 kB a step and 12,583 kB in all.
    Ring attention of 16 tokens, 512 wide, on 7 ranks, two chunks each, causal: At step 1 (of 0 to 6) each rank has the keys and values of the rank before it, and ranks compute from 2 to 6 pairs. Over all steps, ranks wait 16.5 % of their time for each other and 57.9 % for messages. A rank sends 12 kB a step and 57 kB in all, at most.
    ");
}

/// The figure says what is computed and held, at a step that there is not too.
#[test]
fn the_figure_has_what_is_computed_and_held() {
    let view = at(&[("step", "7")]);
    let [computed, held] = view.figure.tables() else { panic!("two tables") };
    assert_eq!(computed.columns[4], "▸ step 3");
    assert_eq!(computed.rows[0], ["rank 0", "0.53", "0", "0", "0"]);
    assert_eq!(computed.rows[3], ["rank 3", "0.53", "1", "1", "1"]);
    assert_eq!(held.caption, "keys at step 3");
    assert_eq!(held.rows[0], ["rank 0", "0", "1", "0", "0"]);
}
