//! Three lookups: who flew, what was flown, where to.
//!
//! "The pilot flew the plane to Paris." holds one verb and three words that stand to it
//! in three relations. Here a sentence is a handful of tokens in any order; each token is
//! the sum of a vector that says **who** it is and one that says which **role** it has.
//! Asked at the verb, the layer must name the agent, the object and the place.
//!
//! In the usual code an identity has the same vector in every role, so a blend of tokens
//! says who is there and not who is what. [`Code::Bound`] is the other way to write the
//! same sentences: there each role has its own vector for every identity.

use ablation::orthonormal;
use attention::{Batch, Error, Matrix, Result, Rng, SeedableRng, random_matrix};
use rand::seq::SliceRandom;

use crate::Schedule;
use crate::one_layer::{Answers, Examples, Task};

mod equal;
mod exchange;
mod sizes;

pub use equal::{EqualShares, Over};
pub use exchange::{Exchange, PAIRS, PairAnswers};
pub use sizes::{Sizes, log_share_by_identity};

/// The lookups on ten seeds, as `cargo run --release -p training --example seeds --
/// lookups` measured them: JSON, one run per line.
pub const LOOKUPS: &str = include_str!("../data/lookups.json");

/// The lookups with three heads and roles of several loudnesses on twenty seeds, as
/// `seeds -- loudness` measured them.
pub const LOUDNESS: &str = include_str!("../data/loudness.json");

/// The lookups in two codes, with one head and shares that are its own or fixed, as
/// `seeds -- codes` measured them.
pub const CODES: &str = include_str!("../data/codes.json");

/// What a token does in its sentence.
const ROLES: [&str; 5] = ["verb", "agent", "object", "place", "filler"];

/// The role of each token, before the order is shuffled.
const SENTENCE: [usize; 10] = [0, 1, 2, 3, 4, 4, 4, 4, 4, 4];

const VERB: usize = 0;
const FILLER: usize = 4;

/// The number of tokens of a sentence.
const N_TOKENS: usize = SENTENCE.len();

/// The task; its vectors are fixed, and only the layer and the readout learn.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookups {
    /// Who, in each role: one vector per row, five times `[n_identities, d_model]`.
    identities: Vec<Matrix<f32>>,
    /// Which role: one vector per row, `[5, d_model]`.
    roles: Matrix<f32>,
}

/// How a token says who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// By the same vector in every role: identity + role.
    Added,
    /// By a vector that depends on the role: R_role · identity + role, with a random
    /// rotation R for each role. The lengths are the same.
    Bound,
}

/// A sentence of the task, token by token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Who each token is. No two are the same.
    pub identities: [usize; N_TOKENS],
    /// Which role it has: 0 verb, 1 agent, 2 object, 3 place, 4 filler.
    pub roles: [usize; N_TOKENS],
}

impl Default for Lookups {
    /// The task of the book: which vectors they are makes no difference that shows.
    fn default() -> Self {
        Self::coded(Code::Added, Self::LOUDNESS, 0)
    }
}

impl Lookups {
    /// The width of a token: it is divided among 1, 2, 3, 4, 6 and 8 heads, and it is
    /// less than the number of identities, so that no two heads need be exact.
    pub const D_MODEL: usize = 48;
    /// How many there are to choose from.
    pub const N_IDENTITIES: usize = 64;

    /// How loud roles are, as the squared length of a role's vector over an identity's.
    ///
    /// It was chosen after trainings had been seen: where roles are louder, two of three
    /// heads more often settle on one role. `data/loudness.json` says how often.
    pub const LOUDNESS: f64 = 0.5;

    /// The task in a code, with roles of a loudness, see [`LOUDNESS`](Self::LOUDNESS), and with
    /// vectors of its own.
    pub fn coded(code: Code, loudness: f64, seed: u64) -> Self {
        let rng = &mut Rng::seed_from_u64(seed);
        let mut vectors = |n, std_dev| random_matrix(n, Self::D_MODEL, std_dev, rng);
        let identities = vectors(Self::N_IDENTITIES, 0.5f64.sqrt());
        let roles = vectors(ROLES.len(), (0.5 * loudness).sqrt());
        let mut in_role = || match code {
            Code::Added => identities.clone(),
            Code::Bound => &identities * orthonormal(Self::D_MODEL, Self::D_MODEL, rng),
        };
        Self { identities: ROLES.map(|_| in_role()).to_vec(), roles }
    }

    /// What learns all three lookups in seconds, with three heads or more.
    pub fn schedule(seed: u64) -> Schedule {
        Schedule { n_steps: 1000, batch: 64, rate: 0.01, seed, n_test: 512, n_looks: 40 }
    }

    /// A random sentence: ten different identities, their roles in any order.
    pub(crate) fn sentence(rng: &mut Rng) -> Sentence {
        let mut all: [usize; Self::N_IDENTITIES] = std::array::from_fn(|who| who);
        let (chosen, _) = all.partial_shuffle(rng, N_TOKENS);
        let identities = std::array::from_fn(|t| chosen[t]);
        let mut roles = SENTENCE;
        roles.shuffle(rng);
        Sentence { identities, roles }
    }

    /// Sentences as the layer gets them.
    pub(crate) fn examples(&self, sentences: &[Sentence]) -> Result<Examples> {
        let n = sentences.len();
        Error::expect_positive("the number of sentences", n)?;
        let d_model = self.d_model();
        let mut tokens = Matrix::zeros(n * N_TOKENS, d_model);
        for (column, mut feature) in tokens.column_iter_mut().enumerate() {
            let all = sentences.iter().flat_map(|s| s.identities.iter().zip(&s.roles));
            for (x, (&who, &role)) in feature.iter_mut().zip(all) {
                *x = self.identities[role][(who, column)] + self.roles[(role, column)];
            }
        }
        let verbs = sentences.iter().enumerate().map(|(s, sentence)| {
            tokens.row(s * N_TOKENS + sentence.place_of(VERB)).into_owned()
        });
        let asking = Matrix::from_rows(&verbs.collect::<Vec<_>>());
        let targets = VERB + 1..FILLER;
        let classes = |role: usize| sentences.iter().map(move |s| s.who(role)).collect();
        let stands = |role: usize| {
            let is =
                |s: usize, t: usize| f64::from(u8::from(sentences[s].roles[t] == role));
            Matrix::from_fn(n, N_TOKENS, is)
        };
        Ok(Examples {
            tokens: Batch::new(n, tokens)?,
            asking: Batch::new(n, asking)?,
            answers: Answers::Classes {
                n_classes: Self::N_IDENTITIES,
                of_targets: targets.clone().map(classes).collect(),
            },
            planted: targets.map(stands).collect(),
            names: sentences[0].roles.map(|role| ROLES[role].to_owned()).to_vec(),
        })
    }
}

impl Sentence {
    /// Where the first token of a role stands.
    ///
    /// # Panics
    /// If there is no such role.
    pub(crate) fn place_of(&self, role: usize) -> usize {
        self.roles.iter().position(|&it| it == role).expect("every role is there")
    }

    /// Who has a role; of fillers, the first.
    ///
    /// # Panics
    /// If there is no such role.
    pub(crate) fn who(&self, role: usize) -> usize {
        self.identities[self.place_of(role)]
    }
}

impl Task for Lookups {
    fn targets(&self) -> &'static [&'static str] {
        &ROLES[VERB + 1..FILLER]
    }

    fn d_model(&self) -> usize {
        Self::D_MODEL
    }

    fn n_answers(&self) -> usize {
        3 * Self::N_IDENTITIES
    }

    fn draw(&self, n_examples: usize, rng: &mut Rng) -> Result<Examples> {
        let sentences: Vec<_> = (0..n_examples).map(|_| Self::sentence(rng)).collect();
        self.examples(&sentences)
    }
}

#[cfg(test)]
mod tests;
