//! Tensors become parts, by the names that the family gives them.

use attention::{Matrix, Real, RowVector};
use block::{Block, FeedForward, Norm, Norms, Sublayer, sinusoidal};
use model_files::{Unused, harmless};
use tensors::TensorFile;
use variants::{Changes, RelativeBias, VariantAttention};

use crate::Result;
use crate::decoders::{Embedding, Layers, Unembedding};
use crate::reader::{Reader, Tensors};
use crate::translators::config::{Config, HEAD, Half, Places};
use crate::translators::family::{Names, TABLE};
use crate::translators::side::Side;

/// The tensors that are known to be no part of such a model, and those in whose place the
/// file has others.
pub(crate) fn unused_tensors(config: &Config, file: &TensorFile) -> Vec<Unused> {
    let mut unused = harmless(file, config.family.prefix, &TABLE.tensors);
    let prefix = file.prefix(config.family.prefix);
    let tables = Tables::of(config, prefix, |name| file.contains(name));
    if !tables.names().contains(&tables.shared) && file.contains(&tables.shared) {
        let why = "each side has a table of its own, which is used";
        unused.push(Unused { name: tables.shared.clone(), why });
    }
    if config.is_tied && tables.head.as_deref() == Some(&weight(HEAD)) {
        let why = "the file has an unembedding, which is used";
        unused.push(Unused { name: "tie_word_embeddings".into(), why });
    }
    unused
}

fn weight(name: &str) -> String {
    format!("{name}.weight")
}

/// Which tensors are the tables of tokens.
///
/// # Source
/// `tie_weights` of transformers 5: what the file has is used; what it has not is another of
/// those that are tied to it.
struct Tables {
    shared: String,
    source: String,
    target: String,
    head: Option<String>,
}

impl Tables {
    /// Which they are where such names are in the file, behind this prefix.
    fn of(config: &Config, prefix: &str, contains: impl Fn(&str) -> bool) -> Self {
        let family = config.family;
        let [shared, source, target] =
            [family.shared, family.encoder.tokens, family.decoder.tokens]
                .map(|name| weight(&format!("{prefix}{name}")));
        let head = weight(HEAD);
        let first = |names: &[&String]| {
            let found = names.iter().find(|name| contains(name));
            found.unwrap_or(&names[0]).to_string()
        };
        let tied = config.is_tied.then_some(&head);
        let is_shared = config.is_shared;
        let all = |own, other: &String, tied: Option<&String>| {
            let mut names = vec![own];
            let others = [&shared, other].into_iter().chain(tied);
            names.extend(others.filter(|_| is_shared));
            let found = first(&names);
            // Where there is none, the one that the family writes is missed.
            if is_shared && !contains(&found) { shared.clone() } else { found }
        };
        let found = [all(&source, &target, tied), all(&target, &source, tied)];
        let of_head = match (contains(&head), config.is_tied) {
            (true, _) => Some(head.clone()),
            (false, true) => Some(found[1].clone()),
            (false, false) => None,
        };
        let [source, target] = found;
        Self { shared, source, target, head: of_head }
    }

    fn names(&self) -> Vec<String> {
        let both = [self.source.clone(), self.target.clone()];
        both.into_iter().chain(self.head.clone()).collect()
    }
}

/// A file of weights, with what says how to read it.
pub(crate) struct Weights<'a> {
    config: &'a Config,
    reader: Reader<'a>,
    tables: Tables,
}

impl<'a> Weights<'a> {
    pub fn new(config: &'a Config, tensors: &'a Tensors) -> Result<Self> {
        let Config { family, encoder, decoder, .. } = config;
        let blocks = [(family.encoder, encoder), (family.decoder, decoder)];
        let blocks = blocks.map(|(names, half)| (names.block, half.n_layers));
        let reader = Reader::new(tensors, family.prefix, &blocks)?;
        let tables = Tables::of(config, &reader.named(""), |name| reader.contains(name));
        reader.skip(&tables.shared);
        Ok(Self { config, reader, tables })
    }

    /// Refuses what was not read and is not known to be harmless.
    pub fn expect_all_known(&self) -> Result<()> {
        self.reader.expect_all_known(&TABLE.tensors)
    }

    /// The tokens of both sides; `None` for a decoder that has the encoder's.
    pub fn embeddings<T: Real>(&self) -> Result<(Embedding<T>, Option<Embedding<T>>)> {
        let Config { n_vocabulary, n_target_vocabulary, .. } = *self.config;
        let of = |tokens| Embedding {
            tokens,
            scale: self.config.embedding_scale,
            positions: None,
            n_positions: self.config.longest(),
        };
        let Tables { source, target, .. } = &self.tables;
        let tokens = self.table(source, n_vocabulary)?;
        if source == target {
            return Ok((of(tokens), None));
        }
        let own: Matrix<T> = self.table(target, n_target_vocabulary)?;
        // A copy is not kept twice.
        let own = (own != tokens).then(|| of(own));
        Ok((of(tokens), own))
    }

    /// The unembedding, `tokens` being those of the decoder; `None` in a model that was saved
    /// without.
    pub fn unembedding<T: Real>(
        &self,
        tokens: &Matrix<T>,
    ) -> Result<Option<Unembedding<T>>> {
        let Tables { target, head, .. } = &self.tables;
        let of = |tokens| Some(Unembedding { tokens, soft_cap: None });
        match head {
            None => Ok(None),
            Some(head) if head == target => Ok(of(None)),
            Some(head) => {
                let own = self.table(head, self.config.n_target_vocabulary)?;
                Ok(of((own != *tokens).then_some(own)))
            }
        }
    }

    /// What is added to the logits, `[n_target_vocabulary]`, where the file has it.
    pub fn logits_bias<T: Real>(&self) -> Result<Option<RowVector<T>>> {
        const BIAS: &str = "final_logits_bias";
        if !self.reader.contains(BIAS) || !self.config.family.has_biases {
            return Ok(None);
        }
        let shape = [1, self.config.n_target_vocabulary];
        Ok(Some(self.reader.stored(BIAS, &shape)?.into()))
    }

    pub fn side<T: Real>(
        &self,
        names: &Names,
        half: Half,
        is_decoder: bool,
    ) -> Result<Side<VariantAttention<T>, T>> {
        let relative = self.relative(names, half, is_decoder)?;
        let blocks =
            (0..half.n_layers).map(|i| self.block(names, half, i, relative.clone()));
        Ok(Side {
            positions: self.positions(names)?,
            norm: names.entry_norm.map(|name| self.norm(name)).transpose()?,
            blocks: blocks.collect::<Result<_>>()?,
            last_norm: names.last_norm.map(|name| self.norm(name)).transpose()?,
        })
    }

    /// Where tokens stand, `[n_positions, d_model]`.
    fn positions<T: Real>(&self, names: &Names) -> Result<Option<Matrix<T>>> {
        let (n, d) = (self.config.n_positions.unwrap_or(0), self.config.d_model());
        let Some(name) = names.positions else { return Ok(None) };
        let table = |n| self.reader.rows::<T>(name, [n, d]);
        Ok(Some(match self.config.places {
            Places::Learned { offset } => table(n + offset)?.rows(offset, n).into_owned(),
            _ if self.reader.contains(&self.reader.named(&weight(name))) => table(n)?,
            _ => {
                let (pairs, n_sines) = (sinusoidal::<f64>(n, d), d.div_ceil(2));
                Matrix::from_fn(n, d, |row, column| {
                    let pair = match column < n_sines {
                        true => 2 * column,
                        false => 2 * (column - n_sines) + 1,
                    };
                    // In f32, as files that have the table keep it.
                    T::of(f64::from(pairs[(row, pair)] as f32))
                })
            }
        }))
    }

    /// The bias of all blocks of a side, which its first block has.
    fn relative<T: Real>(
        &self,
        names: &Names,
        half: Half,
        is_causal: bool,
    ) -> Result<Option<RelativeBias<T>>> {
        let (Some(name), Places::Relative { n_buckets, max_distance }) =
            (names.relative, self.config.places)
        else {
            return Ok(None);
        };
        let n_heads = half.sizes.dims.n_heads();
        let name = format!("{}0.{name}", names.block);
        let table = self.reader.rows(&name, [n_buckets, n_heads])?;
        Ok(Some(RelativeBias::new(table, max_distance, is_causal)?))
    }

    fn block<T: Real>(
        &self,
        names: &Names,
        half: Half,
        i: usize,
        relative: Option<RelativeBias<T>>,
    ) -> Result<Block<VariantAttention<T>, T>> {
        let within = |name: &str| format!("{}{i}.{name}", names.block);
        let cross = |four| -> Result<_> {
            let attention = self.attention(four, &within, half, None)?;
            self.around(attention, &within(names.cross_norm))
        };
        let attention = self.attention(names.attention, &within, half, relative)?;
        let feed_forward = self.feed_forward(names, &within, half.d_ff)?;
        let attention = self.around(attention, &within(names.attention_norm))?;
        let feed_forward = self.around(feed_forward, &within(names.feed_forward_norm))?;
        let cross = names.cross.map(cross).transpose()?;
        Ok(Block { cross, ..Block::new(attention, Some(feed_forward)) })
    }

    fn around<F, T: Real>(&self, function: F, norm: &str) -> Result<Sublayer<F, T>> {
        let norm = self.norm(norm)?;
        let norms = match self.config.family.is_norm_before {
            true => Norms::before(norm),
            false => Norms::after(norm),
        };
        Ok(Sublayer::new(function, norms))
    }

    fn attention<T: Real>(
        &self,
        four: [&str; 4],
        within: &dyn Fn(&str) -> String,
        half: Half,
        relative: Option<RelativeBias<T>>,
    ) -> Result<VariantAttention<T>> {
        let shapes = half.sizes.shapes();
        let has_biases = self.config.family.has_biases;
        let one = |i: usize| self.reader.linear(&within(four[i]), shapes[i], has_biases);
        let projections = [one(0)?, one(1)?, one(2)?, one(3)?];
        let changes =
            Changes { scale: self.config.scale, relative, ..Changes::default() };
        Ok(VariantAttention::new(half.sizes, projections, changes)?)
    }

    fn feed_forward<T: Real>(
        &self,
        names: &Names,
        within: &dyn Fn(&str) -> String,
        d_ff: usize,
    ) -> Result<FeedForward<T>> {
        let Config { family, activation, is_gated, .. } = self.config;
        let layers = match is_gated {
            true => Layers::Gated(names.gated),
            false => Layers::Plain(names.feed_forward),
        };
        layers.read(*activation, (self.config.d_model(), d_ff), |name, shape| {
            self.reader.linear(&within(name), shape, family.has_biases)
        })
    }

    fn norm<T: Real>(&self, name: &str) -> Result<Norm<T>> {
        let Config { family, eps, .. } = self.config;
        self.reader.norm(name, family.norm, self.config.d_model(), *eps)
    }

    /// A column per token, `[d_model, n]`: the table's rows one after the other.
    fn table<T: Real>(&self, name: &str, n: usize) -> Result<Matrix<T>> {
        self.reader.transposed(name, (self.config.d_model(), n))
    }
}
