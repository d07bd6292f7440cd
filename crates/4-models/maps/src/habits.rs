//! What heads do over many texts: each habit's share with its chance level, and how far it
//! spreads from text to text.
//!
//! Chance is an even head, which gives every key that a query sees the same. It is taken on
//! the same queries of the same texts, so that a text of few tokens, in which every key gets
//! much, makes no habit.

use std::collections::HashMap;

use crate::{Sight, TextHeads};

/// What a head may do with a text: six shares, and two numbers of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Habit {
    /// The share of the token before.
    Previous,
    /// The share of the token after.
    Next,
    /// The share of the first token of all, `[CLS]` where there is one.
    First,
    /// The share of the query itself.
    Itself,
    /// The share of the other tokens that are the same, of queries that have such.
    Same,
    /// The share of the token after the last same one before the query: where a text repeats
    /// itself, that one comes next (Olsson et al. 2022, prefix matching).
    Induction,
    /// Over how many bits a query's shares spread.
    Entropy,
    /// How many tokens away they go.
    Distance,
}

impl Habit {
    /// All, in the order of every list here.
    pub const ALL: [Self; 8] = [
        Self::Previous,
        Self::Next,
        Self::First,
        Self::Itself,
        Self::Same,
        Self::Induction,
        Self::Entropy,
        Self::Distance,
    ];

    /// Those that are shares of keys.
    pub const SHARES: [Self; 6] = [
        Self::Previous,
        Self::Next,
        Self::First,
        Self::Itself,
        Self::Same,
        Self::Induction,
    ];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Previous => "previous",
            Self::Next => "next",
            Self::First => "first",
            Self::Itself => "itself",
            Self::Same => "same",
            Self::Induction => "induction",
            Self::Entropy => "bits",
            Self::Distance => "away",
        }
    }
}

/// A number of several texts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// How many texts have it.
    pub n: usize,
    /// Its mean over them.
    pub mean: f64,
    squares: f64,
}

impl Spread {
    /// One more text (Welford 1962).
    pub fn add(&mut self, number: f64) {
        self.n += 1;
        let before = number - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (number - self.mean);
    }

    /// How far texts are from the mean: their standard deviation, 0 of fewer than two.
    pub fn deviation(&self) -> f64 {
        let n_free = self.n.saturating_sub(1);
        if n_free == 0 { 0.0 } else { (self.squares / n_free as f64).sqrt() }
    }
}

/// The habits of one head, or of an even one, in the order of [`Habit::ALL`].
pub type Habits = [Spread; 8];

/// All heads of a model on the texts so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Texts {
    /// `heads[l][i]`, each over the texts.
    pub heads: Vec<Vec<Habits>>,
    /// The control: an even head on the same texts.
    pub chance: Habits,
    /// How many texts there were.
    pub n_texts: usize,
}

impl Texts {
    /// One more text. It is of the same model as those before: a layer or head that they had
    /// and this one has not keeps what it has.
    pub fn add(&mut self, text: &TextHeads) {
        let asked = Queries::of(text);
        self.n_texts += 1;
        add(
            &mut self.chance,
            asked.habits(|query, _| 1.0 / asked.sight.n_seen(query) as f64),
        );
        self.heads.resize_with(self.heads.len().max(text.maps.len()), Vec::new);
        for (heads, maps) in self.heads.iter_mut().zip(&text.maps) {
            heads.resize(heads.len().max(maps.len()), Habits::default());
            for (head, map) in heads.iter_mut().zip(maps) {
                let share = |query: usize, key: usize| f64::from(map[(query, key)]);
                add(head, asked.habits(share));
            }
        }
    }

    /// Every head by its layer and number, those first that are farthest above chance in a
    /// habit, or in whichever share that is; of rows and distances, those that are farthest
    /// from chance.
    pub fn sorted(&self, by: Option<Habit>) -> Vec<[usize; 2]> {
        let far = |&name: &[usize; 2]| match by {
            None => self.strongest(name).1,
            Some(habit) if Habit::SHARES.contains(&habit) => self.above(name, habit),
            Some(habit) => self.above(name, habit).abs(),
        };
        let layers = self.heads.iter().enumerate();
        let mut names: Vec<[usize; 2]> = layers
            .flat_map(|(layer, heads)| (0..heads.len()).map(move |head| [layer, head]))
            .collect();
        names.sort_by(|a, b| far(b).total_cmp(&far(a)));
        names
    }

    /// How far a head is above chance in a habit.
    fn above(&self, [layer, head]: [usize; 2], habit: Habit) -> f64 {
        let at = habit as usize;
        self.heads[layer][head][at].mean - self.chance[at].mean
    }

    /// The habit of a head whose share is farthest above chance, and by how much.
    pub fn strongest(&self, name: [usize; 2]) -> (Habit, f64) {
        let pairs = Habit::SHARES.map(|habit| (habit, self.above(name, habit)));
        let larger = |a: (Habit, f64), b: (Habit, f64)| if b.1 > a.1 { b } else { a };
        pairs.into_iter().fold(pairs[0], larger)
    }

    /// A line per head and habit: its mean over the texts, how far they spread, how many there
    /// were, and the same of an even head.
    pub fn csv(&self) -> String {
        let mut csv =
            "layer,head,habit,mean,deviation,texts,chance,chance_deviation\n".to_owned();
        for (layer, heads) in self.heads.iter().enumerate() {
            for (head, habits) in heads.iter().enumerate() {
                for (habit, chance) in Habit::ALL.into_iter().zip(&self.chance) {
                    let of = &habits[habit as usize];
                    csv += &format!(
                        "{layer},{head},{},{:.7},{:.7},{},{:.7},{:.7}\n",
                        habit.name(),
                        of.mean,
                        of.deviation(),
                        of.n,
                        chance.mean,
                        chance.deviation()
                    );
                }
            }
        }
        csv
    }
}

fn add(habits: &mut Habits, numbers: [Option<f64>; 8]) {
    for (habit, number) in habits.iter_mut().zip(numbers) {
        if let Some(number) = number {
            habit.add(number);
        }
    }
}

/// What a text asks of every map on it.
struct Queries<'a> {
    sight: Sight<'a>,
    /// The queries that are part of the text.
    queries: Vec<usize>,
    /// Of each of them, the other keys that are the same token.
    same: Vec<Vec<usize>>,
    /// Of each of them, the key after the last same token before it.
    induction: Vec<Option<usize>>,
}

impl<'a> Queries<'a> {
    fn of(text: &'a TextHeads) -> Self {
        let ((pieces, _), sight) = (text.asking(), text.sight());
        let mut keys: HashMap<&str, Vec<usize>> = HashMap::new();
        for (key, piece) in text.pieces.iter().enumerate() {
            keys.entry(piece).or_default().push(key);
        }
        let queries = sight.words();
        let same_of = |&query: &usize| {
            let all = keys.get(pieces[query].as_str()).into_iter().flatten().copied();
            let is_other = |&key: &usize| sight.sees_another(query, key);
            all.filter(is_other).collect::<Vec<_>>()
        };
        let same: Vec<Vec<usize>> = queries.iter().map(same_of).collect();
        let follows = |(&query, same): (&usize, &Vec<usize>)| {
            let place = sight.place(query)?;
            same.iter().filter(|&&key| key < place).max().map(|key| key + 1)
        };
        let induction = queries.iter().zip(&same).map(follows).collect();
        Self { sight, queries, same, induction }
    }

    /// The habits of a map whose share of a key that a query sees is `share`; `None` where the
    /// text has no query that could show one.
    fn habits(&self, share: impl Fn(usize, usize) -> f64) -> [Option<f64>; 8] {
        let sight = &self.sight;
        let n_keys = sight.is_special.len();
        let at = |key: Option<usize>, query: usize| {
            let key = key.filter(|&key| sight.sees(query, key))?;
            Some(share(query, key))
        };
        let queries = || self.queries.iter().copied();
        let nth = |nth: usize| (self.queries[nth], &self.same[nth], self.induction[nth]);
        let each = || (0..self.queries.len()).map(nth);
        let sum = |query, keys: &[usize]| keys.iter().map(|&key| share(query, key)).sum();
        let of_row = |query: usize, number: &dyn Fn(usize, f64) -> f64| {
            let keys = 0..sight.n_seen(query);
            keys.map(|key| number(key, share(query, key))).sum::<f64>()
        };
        let bits = |_, share: f64| if share > 0.0 { -share * share.log2() } else { 0.0 };
        let first = |query| (n_keys > 0).then(|| share(query, 0));
        let before = |query: usize| at(sight.place(query)?.checked_sub(1), query);
        let behind = |query: usize| at(sight.place(query)?.checked_add(1), query);
        let own = |query: usize| at(sight.place(query), query);
        let away = |query: usize| {
            sight.place(query)?;
            let distance =
                |key: usize, share: f64| share * sight.distance(query, key) as f64;
            Some(of_row(query, &distance))
        };
        [
            mean(queries().filter_map(before)),
            mean(queries().filter_map(behind)),
            mean(queries().filter_map(first)),
            mean(queries().filter_map(own)),
            mean(
                each()
                    .filter(|it| !it.1.is_empty())
                    .map(|(query, same, _)| sum(query, same)),
            ),
            mean(each().filter_map(|(query, _, after)| at(Some(after?), query))),
            mean(queries().map(|query| of_row(query, &bits))),
            mean(queries().filter_map(away)),
        ]
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = numbers.fold((0, 0.0), |(n, sum), number| (n + 1, sum + number));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests;
