//! A test of induction on a reader's own names: does the model copy what followed?
//!
//! ```text
//! repeated      A B C D  A B C D      at each end of a name: how likely is the next one?
//! other order   D C B A  A B C D      the control: all were mentioned, in another order
//! alone                  A B C D      what it says of names that nobody mentioned
//! ```
//!
//! A head that copies looks from a name's last token at the token that came after that name
//! before. Its control is what it gives the first tokens of the other names on average. Then
//! the heads that look there most are off, and as the control as many random others of the same
//! layers: each head costs something, and only some cost the copying.

use ablation::Draws;
use models::decoders::FastDecoder;
use models::{Head, Kind, Sampling};
use serde_json::{Value, json};
use texts::Long;

use crate::{Error, Model};

/// So many heads are ablated, or a quarter of fewer.
const STRONGEST: usize = 10;
/// So many sets of others.
const DRAWS: usize = 3;
/// So many heads are told.
const TOLD: usize = 12;

/// A test of some names, pass by pass.
#[derive(Debug)]
pub struct NamesTest {
    names: Vec<String>,
    /// What stands in front of any text.
    start: Vec<usize>,
    /// The tokens of each name.
    tokens: Vec<Vec<usize>>,
    /// What was found, in the order of [`LINES`], then without the strongest, then the draws.
    passes: Vec<Chances>,
    heads: Vec<HeadShares>,
    /// What is off in each pass behind the lines.
    off: Vec<Vec<Head>>,
}

/// The names that stand before those that are asked for.
const LINES: [&str; 3] = ["repeated", "other order", "alone"];

/// What a head gives on average, over the names but the first.
#[derive(Debug, Clone, Copy)]
struct HeadShares {
    head: Head,
    /// The token that came next before.
    next: f64,
    /// The first tokens of the other names there.
    others: f64,
}

/// In a line that was read: the probability of the first token of each name but the first.
type Chances = Vec<f64>;

fn loss(chances: &[f64]) -> f64 {
    chances.iter().map(|p| -p.ln()).sum::<f64>() / chances.len().max(1) as f64
}

impl Model {
    /// Begins a test of names, with commas or line ends between.
    ///
    /// # Errors
    /// [`Error::Names`] for fewer than three, or one twice; [`Error::LongNames`]; as
    /// [`Text::pieces`](texts::Text::pieces); [`Error::GoesNotOn`] of another model.
    pub fn names(&self, names: &str) -> Result<NamesTest, Error> {
        let names =
            names.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        if names.len() < 3 {
            return Err(Error::Names { found: names.len() });
        }
        if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            return Err(Error::NameTwice { name: names[at].clone() });
        }
        let n_positions = decoder(&self.model.kind)?.config.n_positions;
        let mut start = Vec::new();
        let mut tokens = Vec::new();
        for name in &names {
            let pieces =
                self.text.pieces(&format!(" {name}"), n_positions, Long::Refuse)?;
            let ids = pieces.sequence.ids.iter().copied().zip(&pieces.is_special);
            if tokens.is_empty() {
                start =
                    ids.clone().take_while(|(_, is)| **is).map(|(id, _)| id).collect();
            }
            tokens
                .push(ids.filter(|(_, is)| !**is).map(|(id, _)| id).collect::<Vec<_>>());
        }
        let n_tokens = start.len() + 2 * tokens.iter().map(Vec::len).sum::<usize>();
        if n_tokens > n_positions {
            return Err(Error::LongNames { n_tokens, n_positions });
        }
        let (passes, heads, off) = (Vec::new(), Vec::new(), Vec::new());
        Ok(NamesTest { names, start, tokens, passes, heads, off })
    }

    /// Reads the next line of a test, and says whether there was one.
    ///
    /// # Errors
    /// As [`FastDecoder::read_looking`](models::decoders::FastDecoder::read_looking).
    pub fn read_names(&mut self, test: &mut NamesTest) -> Result<bool, Error> {
        let nth = test.passes.len();
        if nth == LINES.len() {
            test.choose_off(decoder(&self.model.kind)?.config.dims().n_heads());
        }
        let (line, off) = match nth.checked_sub(LINES.len()) {
            None => (nth, Vec::new()),
            Some(behind) => match test.off.get(behind) {
                Some(off) => (0, off.clone()),
                None => return Ok(false),
            },
        };
        self.model.ablate(&off)?;
        let chances = self.read_line(test, line, nth == 0)?;
        test.passes.push(chances);
        Ok(true)
    }

    fn read_line(
        &mut self,
        test: &mut NamesTest,
        line: usize,
        is_looking: bool,
    ) -> Result<Chances, Error> {
        let n = test.tokens.len();
        let before: Vec<usize> = match line {
            0 => (0..n).collect(),
            1 => (0..n).rev().collect(),
            _ => Vec::new(),
        };
        let mut unread = test.start.clone();
        // Where each name begins in the first line.
        let mut firsts = vec![0; n];
        for name in before {
            firsts[name] = unread.len();
            unread.extend(&test.tokens[name]);
        }
        let Kind::Decoder(model) = &mut self.model.kind else {
            return Err(Error::GoesNotOn);
        };
        let mut caches = model.caches(2 * unread.len() + test.tokens.len());
        let mut chances = Vec::new();
        for name in 0..n - 1 {
            unread.extend(&test.tokens[name]);
            let (logits, looks) = model.read_looking(&unread, &mut caches)?;
            unread.clear();
            let logits: Vec<f64> = logits.into_iter().map(f64::from).collect();
            let next = test.tokens[name + 1].first().copied().unwrap_or(0);
            chances.push(Sampling::default().chances(&logits)[next]);
            if is_looking {
                test.add(&looks, &firsts, name + 1);
            }
        }
        Ok(chances)
    }
}

/// A model that goes on with a text.
fn decoder<E, T>(kind: &Kind<E, FastDecoder, T>) -> Result<&FastDecoder, Error> {
    match kind {
        Kind::Decoder(decoder) => Ok(decoder),
        _ => Err(Error::GoesNotOn),
    }
}

impl NamesTest {
    /// What all heads give the first tokens of the names before.
    fn add(&mut self, looks: &models::decoders::Looks, firsts: &[usize], next: usize) {
        let n_asked = (self.tokens.len() - 1) as f64;
        let mut nth = 0;
        for (layer, shares) in looks.layers.iter().enumerate() {
            for head in 0..shares.nrows() {
                if self.heads.len() == nth {
                    let head = Head::from((layer, head));
                    self.heads.push(HeadShares { head, next: 0.0, others: 0.0 });
                }
                let share = |at: usize| f64::from(shares[(head, firsts[at])]);
                let others = (0..firsts.len()).filter(|&at| at != next).map(share);
                let others = others.sum::<f64>() / n_asked;
                self.heads[nth].next += share(next) / n_asked;
                self.heads[nth].others += others / n_asked;
                nth += 1;
            }
        }
    }

    fn choose_off(&mut self, n_heads: usize) {
        self.heads.sort_by(|a, b| b.next.total_cmp(&a.next));
        let n_off = STRONGEST.min(self.heads.len().div_ceil(4));
        let strongest = self.heads.iter().take(n_off).map(|it| it.head.place());
        let mut strongest: Vec<_> = strongest.collect();
        strongest.sort_unstable();
        let draws = Draws::new(&strongest, n_heads, DRAWS, 0);
        let sets = std::iter::once(strongest).chain(draws.sets);
        self.off = sets.map(|set| set.into_iter().map(Head::from).collect()).collect();
    }

    /// What is found so far.
    pub fn to_json(&self) -> Value {
        let lines = LINES.iter().zip(&self.passes).map(|(line, chances)| {
            json!({ "line": line, "chances": chances, "loss": loss(chances) })
        });
        let without = self.off.iter().zip(self.passes.iter().skip(LINES.len()));
        let without = without.map(|(off, chances)| {
            let off: Vec<String> = off.iter().map(Head::to_string).collect();
            json!({ "off": off, "chances": chances, "loss": loss(chances) })
        });
        let told = self.heads.iter().take(TOLD).map(
            |it| json!({ "head": it.head.to_string(), "next": it.next, "others": it.others }),
        );
        let is_sorted = self.passes.len() > LINES.len();
        json!({
            "names": self.names,
            "lines": lines.collect::<Vec<_>>(),
            "without": without.collect::<Vec<_>>(),
            "heads": if is_sorted { told.collect::<Vec<_>>() } else { Vec::new() },
            "n_passes": LINES.len() + 1 + DRAWS,
        })
    }
}
