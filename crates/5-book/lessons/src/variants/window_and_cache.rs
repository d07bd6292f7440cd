//! Which keys a query sees through a window, and what a cache keeps for it: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use anyhow::Result;
use attention::{Matrix, thousands};
use figures::{
    Axis, Chart, FAINT, Figure, Mark, NARROW, Panel, Place, Table, by_cell, palette,
};
use variants::{Cache, Positions, Window};

/// Draws what each token sees in one layer, and layer by layer what reaches one of them: a
/// reader clicks a token at a layer.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("window", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Click token 20 at another layer. At how low a layer does token 1, which is \
              not kept, reach it?",
        is_answered: |set, it| {
            // One layer less reaches as much less far as a window does.
            let is_least = (set.layers - 1) * (set.window - 1) < TO - FROM;
            let is_as_asked = set.query == TO && set.window == 5;
            let is_as_asked = is_as_asked && set.sinks <= FROM && set.causal;
            is_as_asked && it.reach_20.contains(&FROM) && is_least
        },
        answer: |set| set.layers = 5,
        found: "At layer 5: each layer reaches 4 tokens further back, the window without the \
                token itself.",
    },
    Question {
        ask: "Leave the window of 5. Let token 20 see token 1 in a single layer.",
        is_answered: |set, it| set.window == 5 && it.seen_by_20.contains(&FROM),
        answer: |set| set.sinks = 2,
        found: "Keep two first tokens: every token sees them, however far behind, for a \
                row each in the cache.",
    },
    Question {
        ask: "Let token 8 reach token 20, with less than 2,000 bytes in the cache of a \
              layer.",
        is_answered: |set, it| set.causal && it.reach_20.contains(&8) && it.bytes < 2000,
        answer: |set| {
            (set.window, set.sinks, set.layers, set.kv_heads) = (3, 0, 6, 1);
        },
        found: "A narrow window and shared keys: what the cache saves, depth pays for.",
    },
];

/// How many tokens there are.
pub const N_TOKENS: usize = 24;
/// The tokens that are asked about.
const FROM: usize = 1;
const TO: usize = 20;
/// The width of a head.
const D_K: usize = 64;

live! {
    struct Set {
        query: usize = "Token", slider([0, N_TOKENS - 1], 1, 20).played();
        window: usize = "Window, the token included", count([1, N_TOKENS], 5);
        sinks: usize = "First tokens kept", count([0, 4], 1);
        causal: bool = "Causal", switch(true);
        layers: usize = "Layers", count([1, 6], 2);
        kv_heads: usize = "Heads of keys and values", choice([
            ("3", "3", 3), ("9", "9, one per query head", 9), ("1", "1", 1),
        ]);
    }

    struct Facts {
        /// What token 20 sees in one layer.
        seen_by_20: Vec<usize>,
        /// What reaches it through several.
        reach_20: Vec<usize>,
        /// Of the cache of a layer.
        bytes: usize,
    }
}

/// What each token sees in one layer: `[n, n]`.
pub fn sees(window: Window, n_tokens: usize) -> Matrix<bool> {
    let at = Positions::new(n_tokens, n_tokens);
    Matrix::from_fn(n_tokens, n_tokens, |i, j| window.sees(at.queries[i], at.keys[j]))
}

/// What reaches each token through so many layers, one at least.
pub fn reaches(sees: &Matrix<bool>, n_layers: usize) -> Matrix<bool> {
    let n = sees.nrows();
    let through = |first: Matrix<bool>, _| {
        Matrix::from_fn(n, n, |i, j| (0..n).any(|m| sees[(i, m)] && first[(m, j)]))
    };
    (1..n_layers).fold(sees.clone(), through)
}

/// The cache of one layer behind so many tokens that came one by one.
///
/// # Errors
/// None; the rows fit.
pub fn cached(window: Window, n_kv_heads: usize, n_tokens: usize) -> Result<Cache<f32>> {
    let width = n_kv_heads * D_K;
    let mut cache = Cache::new([width; 2]).with_window(window);
    let row = Matrix::zeros(1, width);
    for _ in 0..n_tokens {
        cache.append(&row, &row)?;
    }
    Ok(cache)
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let &Set { query, window: width, sinks: n_sinks, causal: is_causal, .. } = set;
    let &Set { layers: n_layers, kv_heads: n_kv_heads, .. } = set;
    let right = if is_causal { 0 } else { width - 1 };
    let window = Window { right: Some(right), n_sinks, ..Window::last(width)? };

    let one = sees(window, N_TOKENS);
    let several = reaches(&one, n_layers);
    let through = match n_layers {
        1 => "through 1 layer".to_owned(),
        n => format!("through {n} layers"),
    };
    let kept = match n_sinks {
        0 => String::new(),
        n => format!(" and the first {n} kept"),
    };
    let title = format!(
        "A window of {width}{kept}: what token {query} sees, and what reaches it"
    );
    let figure = Reach { one: &one, several: &several, query, n_layers }.figure(title)?;

    let row = |map: &Matrix<bool>, query| -> Vec<usize> {
        (0..N_TOKENS).filter(|&key| map[(query, key)]).collect()
    };
    let (seen, reached) = (row(&one, query), row(&several, query));
    let all = cached(Window::default(), n_kv_heads, N_TOKENS)?.bytes();
    let kept = cached(window, n_kv_heads, N_TOKENS)?;
    let of_the_cache = match is_causal {
        true => format!(
            "Behind {N_TOKENS} tokens the cache of a layer has {}, {} bytes; without a \
             window it would be {N_TOKENS} rows, {} bytes.",
            rows(kept.positions().len()),
            thousands(kept.bytes()),
            thousands(all)
        ),
        false => {
            "Without a causal mask there is nothing to cache: each new token changes \
                  those before it."
                .to_owned()
        }
    };
    let words = format!(
        "Token {query} sees {} of {N_TOKENS} tokens: {}. {}{} it is reached by {}. \
         {of_the_cache}",
        seen.len(),
        runs(&seen),
        through[..1].to_uppercase(),
        &through[1..],
        reached.len(),
    );
    let (seen_by_20, reach_20) = (row(&one, TO), row(&several, TO));
    let facts = Facts { seen_by_20, reach_20, bytes: kept.bytes() };
    Ok(LiveView { figure, words, facts })
}

/// `1 row`, `6 rows`.
fn rows(n: usize) -> String {
    if n == 1 { "1 row".to_owned() } else { format!("{n} rows") }
}

/// Rising numbers, runs of them shortly: `0 and 16 to 20`.
fn runs(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        [one, other] => format!("{one}, {other}"),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(" and ")
}

/// The most layers, all of which are drawn.
const MOST: usize = 6;

/// What each token sees, and what reaches it through several layers.
struct Reach<'a> {
    one: &'a Matrix<bool>,
    several: &'a Matrix<bool>,
    query: usize,
    n_layers: usize,
}

impl Reach<'_> {
    fn figure(&self, title: String) -> Result<Figure> {
        let names: Vec<String> = (0..N_TOKENS).map(|token| token.to_string()).collect();
        let grid = |name: &str, map: &Matrix<bool>| {
            let cell = |i, j| if map[(i, j)] { "may" } else { "–" }.to_owned();
            Table::grid(name, "query \\ key", &names, &names, cell)
        };
        let through = format!("reached through {}", self.n_layers);
        Ok(Chart::new(title)
            .by_width(panels)
            .marks([self.map(), frame(self.query)])
            .marks(self.graph().into_iter().map(|mark| mark.on(1)))
            .tables([grid("seen", self.one), grid(&through, self.several)])
            .says(format!(
                "A map of what each of {N_TOKENS} tokens sees, with the row of {} framed, \
                 and the tokens at each layer, with lines from the one that is chosen, at \
                 layer {}, down to all that reach it.",
                self.query, self.n_layers
            ))
            .figure()?)
    }

    /// Dark what a token sees, pale what only reaches it.
    fn map(&self) -> Mark {
        let (one, several) = (self.one, self.several);
        let shade = |i, j| match (one[(i, j)], several[(i, j)]) {
            (true, _) => 1.0,
            (_, true) => 0.4,
            _ => 0.0,
        };
        Mark::cells(by_cell(one.shape(), shade), 1)
            .scaled(palette::from_nothing(FAINT), [0.0, 1.0])
            .tells("query {row}, key {column}")
            .picks("query={row}")
    }

    /// Lines down from the chosen token, layer by layer, and all tokens at each layer.
    fn graph(&self) -> Vec<Mark> {
        // Which tokens are reached, at each layer.
        let mut lit = [[false; N_TOKENS]; MOST + 1];
        lit[self.n_layers][self.query] = true;
        let [mut x, mut y] = [vec![], vec![]];
        for layer in (1..=self.n_layers).rev() {
            let all =
                (0..N_TOKENS).flat_map(|to| (0..N_TOKENS).map(move |from| (to, from)));
            for (to, from) in
                all.filter(|&at| lit[layer][at.0] && self.one[at]).collect::<Vec<_>>()
            {
                lit[layer - 1][from] = true;
                x.extend([to as f64, from as f64, f64::NAN]);
                y.extend([layer as f64, layer as f64 - 1.0, f64::NAN]);
            }
        }
        let lines = Mark::lines(x, y).with_gaps().line(palette::head(0), 1.0);
        let lines = lines.opacity(0.45).silent();
        let nodes = lit.iter().enumerate().map(|(layer, lit)| {
            let colour =
                |token: usize| match [layer, token] == [self.n_layers, self.query] {
                    true => palette::head(1),
                    false if lit[token] => palette::head(0),
                    false => FAINT,
                };
            let picked =
                if layer == 0 { String::new() } else { format!("&layers={layer}") };
            Mark::points(0..N_TOKENS, vec![layer; N_TOKENS])
                .marked("circle", 9)
                .coloured_each((0..N_TOKENS).map(colour))
                .hover(
                    (0..N_TOKENS).map(|token| format!("token {token} at layer {layer}")),
                )
                .picks(format!("query={{nth}}{picked}"))
                .unclipped()
        });
        // Around the token that the questions ask for.
        let asked = Mark::points([FROM], [0]).marked("circle-open", 14);
        let asked = asked.coloured(palette::wrong()).silent().unclipped();
        [lines].into_iter().chain(nodes).chain([asked]).collect()
    }
}

fn panels(width: f64) -> (Vec<Panel>, Place) {
    let is_narrow = width <= NARROW;
    let height = if is_narrow { 260.0 } else { 310.0 };
    let layers = ["input".to_owned()].into_iter();
    let layers = layers.chain((1..=MOST).map(|layer| format!("layer {layer}")));
    let up = Axis::names(&[], 12).at(0..=MOST, layers).range([-0.3, MOST as f64 + 0.3]);
    let [first, last] = [-0.5, N_TOKENS as f64 - 0.5];
    let few =
        |range| Axis::names(&[], 12).numbered_at((0..N_TOKENS).step_by(4)).range(range);
    let across = || few([first, last]);
    let map = "query ↓ key →, dark: seen, pale: reached";
    let panels = vec![
        Panel {
            width: (!is_narrow).then_some(310.0),
            ..Panel::new(map, across(), few([last, first]), height)
        },
        Panel::new("click a token at a layer", across(), up, height),
    ];
    let n_columns = if is_narrow { 1 } else { 2 };
    (panels, Place { width, n_columns, left: 50.0, below: 30.0, ..Place::default() })
}

/// Around the row of a query.
fn frame(query: usize) -> Mark {
    let [left, right] = [-0.5, N_TOKENS as f64 - 0.5];
    let [top, bottom] = [query as f64 - 0.5, query as f64 + 0.5];
    let x = [left, right, right, left, left];
    Mark::lines(x, [top, top, bottom, bottom, top])
        .line(palette::head(1), 2.0)
        .unclipped()
        .silent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_first_and_at_the_ends() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Token 20 sees 6 of 24 tokens: 0 and 16 to 20. Through 2 layers it is reached by 10. Behind 24 tokens the cache of a layer has 6 rows, 9,216 bytes; without a window it would be 24 rows, 36,864 bytes.");
        let all = [("window", "24"), ("layers", "1"), ("causal", "off"), ("query", "0")];
        insta::assert_snapshot!(LIVE.at(all).unwrap().words, @"Token 0 sees 24 of 24 tokens: 0 to 23. Through 1 layer it is reached by 24. Without a causal mask there is nothing to cache: each new token changes those before it.");
        let alone = [("window", "1"), ("sinks", "0"), ("layers", "6"), ("kv_heads", "1")];
        insta::assert_snapshot!(LIVE.at(alone).unwrap().words, @"Token 20 sees 1 of 24 tokens: 20. Through 6 layers it is reached by 1. Behind 24 tokens the cache of a layer has 1 row, 512 bytes; without a window it would be 24 rows, 12,288 bytes.");
    }

    /// What a token sees is what the cache has when it is the newest.
    #[test]
    fn the_cache_keeps_what_the_newest_token_sees() {
        for width in [1, 2, 5, 24] {
            for n_sinks in [0, 1, 4] {
                let window =
                    Window { right: Some(0), n_sinks, ..Window::last(width).unwrap() };
                let map = sees(window, N_TOKENS);
                for newest in 0..N_TOKENS {
                    let cache = cached(window, 1, newest + 1).unwrap();
                    let seen: Vec<i64> = (0..N_TOKENS)
                        .filter(|&key| map[(newest, key)])
                        .map(|key| key as i64)
                        .collect();
                    assert_eq!(cache.positions(), seen, "{width} {n_sinks} {newest}");
                }
            }
        }
    }

    /// A window of w reaches w − 1 further back with each layer.
    #[test]
    fn each_layer_reaches_as_far_again() {
        for width in [1usize, 3, 5] {
            let map =
                sees(Window { right: Some(0), ..Window::last(width).unwrap() }, N_TOKENS);
            for n_layers in 1..=6 {
                let n = reaches(&map, n_layers)
                    .row(N_TOKENS - 1)
                    .iter()
                    .filter(|it| **it)
                    .count();
                assert_eq!(n, (n_layers * (width - 1) + 1).min(N_TOKENS));
            }
        }
    }
}
