use attention::{Matrix, Rng, SeedableRng, random_matrix, softmax_rows};

use super::*;

/// `a b c a b c …` between special tokens, or without.
fn pieces(n: usize) -> Vec<String> {
    (0..n).map(|i| ["a", "b", "c"][i % 3].to_owned()).collect()
}

fn text(maps: Vec<Matrix<f32>>, is_causal: bool) -> TextHeads {
    let n = maps[0].nrows();
    let of = if is_causal { TextHeads::of_decoder } else { TextHeads::of_encoder };
    of(pieces(n), vec![false; n], vec![maps])
}

/// A head that gives all to one key of each query, or to the first where there is none.
fn all_to(n: usize, key: impl Fn(usize) -> Option<usize>) -> Matrix<f32> {
    let to = |i: usize| key(i).filter(|&j| j < n).unwrap_or(0);
    Matrix::from_fn(n, n, |i, j| if j == to(i) { 1.0 } else { 0.0 })
}

fn of(heads: &Texts, head: usize, habit: Habit) -> f64 {
    heads.heads[0][head][habit as usize].mean
}

#[test]
fn planted_habits_are_seen_each_in_its_head() {
    let n = 9;
    let maps = vec![
        all_to(n, |i| i.checked_sub(1)),
        all_to(n, Some),
        all_to(n, |_| Some(0)),
        all_to(n, |i| i.checked_sub(3)),
        all_to(n, |i| i.checked_sub(2)),
    ];
    let mut texts = Texts::default();
    texts.add(&text(maps, true));
    for (head, habit) in
        [Habit::Previous, Habit::Itself, Habit::First, Habit::Same, Habit::Induction]
            .into_iter()
            .enumerate()
    {
        assert!((of(&texts, head, habit) - 1.0).abs() < 1e-12, "{habit:?}");
        assert_eq!(texts.strongest([0, head]).0, habit);
        assert_eq!(texts.sorted(Some(habit))[0], [0, head]);
    }
    assert_eq!(of(&texts, 0, Habit::Entropy), 0.0);
    assert_eq!(of(&texts, 0, Habit::Distance), 1.0);
    // No query sees the token after it.
    assert_eq!(texts.chance[Habit::Next as usize].n, 0);
}

/// An even head is the control to the last digit, and noise is near it.
#[test]
fn an_even_head_has_no_habit_and_noise_hardly_one() {
    let rng = &mut Rng::seed_from_u64(3);
    let mut texts = Texts::default();
    for n in [6, 9, 12].repeat(20) {
        let even = Matrix::from_element(n, n, 1.0 / n as f32);
        let noise: Matrix = softmax_rows(random_matrix(n, n, 2.0, rng));
        texts.add(&text(vec![even, noise.map(|x| x as f32)], false));
    }
    for habit in Habit::ALL {
        let chance = texts.chance[habit as usize];
        let even = texts.heads[0][0][habit as usize];
        assert!((even.mean - chance.mean).abs() < 1e-6, "{habit:?}");
        assert_eq!((even.n, texts.n_texts), (60, 60));
    }
    assert!(texts.strongest([0, 0]).1.abs() < 1e-6);
    assert!(texts.strongest([0, 1]).1 < 0.05, "{:?}", texts.strongest([0, 1]));
}

#[test]
fn texts_spread_as_their_numbers_do() {
    let mut spread = Spread::default();
    [0.2, 0.4, 0.9].into_iter().for_each(|number| spread.add(number));
    assert!((spread.mean - 0.5).abs() < 1e-12);
    assert!((spread.deviation() - 0.13f64.sqrt()).abs() < 1e-12);
    assert_eq!(Spread { n: 1, ..spread }.deviation(), 0.0);
}

/// A key of another text is never before, after or the query itself.
#[test]
fn between_two_texts_places_mean_nothing() {
    let tokens = |n| crate::Tokens { pieces: pieces(n), is_special: vec![false; n] };
    let even = Matrix::from_element(4, 3, 1.0 / 3.0);
    let mut texts = Texts::default();
    texts.add(&TextHeads::between(tokens(4), tokens(3), vec![vec![even]]));
    let n = |habit: Habit| texts.heads[0][0][habit as usize].n;
    assert_eq!(Habit::ALL.map(n), [0, 0, 1, 0, 1, 0, 1, 0]);
    assert!((of(&texts, 0, Habit::Same) - 1.0 / 3.0).abs() < 1e-6);
}

/// A panel is as dark as its largest mean, and the planted head is the dark one.
#[test]
fn the_atlas_shows_where_a_habit_is() {
    let n = 9;
    let even = Matrix::from_element(n, n, 1.0 / n as f32);
    let mut texts = Texts::default();
    texts.add(&text(vec![even, all_to(n, |i| i.checked_sub(1))], false));
    let svg = crate::picture::atlas(&texts, 80.0);
    assert!(svg.contains("width=\"80mm\""), "{svg}");
    assert!(svg.contains(">previous; an even head .11<"), "{svg}");
    // The second of two heads, in the darkest shade.
    let panel = svg.split(">previous;").nth(1).unwrap().split(">next;").next().unwrap();
    assert!(panel.contains("fill=\"#08306b\" d=\"M1 0h1v1h-1z\""), "{panel}");
}
