//! Attention maps of a text, wherever they come from, and what each head does there.
//!
//! A map is a head's shares: a row per query, a column per key, rows that sum to 1. This
//! crate computes none. [`TextHeads`] has the tokens and the maps of all heads; [`Glance`]
//! says in a few numbers what one head does with them, and [`links`] which tokens it links.
//!
//! The one decision: **no share without its control.** Beside what a head gives a kind of key
//! stands what an even head would give it, and beside a link what the other queries give the
//! same key.
//!
//! Of a long text some tokens may ask and all be asked: maps are then `[n_chosen, n]`, and
//! [`TextHeads::places`] says which. Maps between two texts, as an encoder-decoder's
//! cross-attention has them, are `[n_q, n_kv]`: a key is then never the query itself, nor
//! before it or after it. A [`Sight`] knows all three.
//!
//! [`mod@file`] reads maps of any framework from a safetensors file, and writes them;
//! [`picture`] and [`table`] are maps to take away, as SVG, CSV and JSON.
//! [`habits`] is what heads do over many texts, and [`compare`] how far each is from itself on
//! another text, or in another model; [`agreement`] is how far all maps of a model are from those
//! of another form of it.
//!
//! Left out: how maps are computed, which `encoders`, `decoders` and `translators` know.

pub mod agreement;
pub mod compare;
mod error;
mod extract;
pub mod file;
pub mod habits;
mod heads;
mod kind;
mod links;
pub mod picture;
pub mod table;
mod text_heads;
mod visibility;

pub use error::{Error, Result, Row};
pub use extract::Extract;
pub use heads::Glance;
pub use kind::Kind;
pub use links::{Link, links};
pub use text_heads::{TextHeads, Tokens};
pub use visibility::{Place, Sight};
