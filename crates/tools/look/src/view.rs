//! All that is shown of a sentence.

use std::path::Path;
use std::time::Duration;

use ablation::HeadOfLayer;
use anyhow::{Result, ensure};
use maps::file::Grid;
use maps::{Glance, Link, TextHeads};
use model_files::shown;
use serde_json::Value;

/// A sentence, and all heads on it.
pub struct View {
    /// The model's folder.
    pub model: String,
    /// As it was written.
    pub sentence: String,
    /// How many tokens it had before it was cut.
    pub n_uncut: usize,
    /// Its tokens, and their maps.
    pub text: TextHeads,
    /// How long reading the files took.
    pub loading: Duration,
    /// How long the layers took.
    pub computing: Duration,
    pub beside: BesideMaps,
}

/// What a page shows of a text beside its maps.
#[derive(Debug, Clone, Default)]
pub struct BesideMaps {
    /// What a reader should know of maps from a file: a sentence each.
    pub notes: Vec<String>,
    /// Where the tokens stand in a picture.
    pub grid: Option<Grid>,
    /// That picture, as an address that holds all of it.
    pub picture: Option<String>,
    /// What each head adds to the logits of tokens.
    pub adds: Option<Value>,
    /// What changes without some heads.
    pub ablated: Option<Value>,
}

impl View {
    /// A text through the model in this folder; how long reading its files took, and how long
    /// its layers.
    pub fn of_model(
        folder: &Path,
        sentence: &str,
        n_uncut: usize,
        text: TextHeads,
        [loading, computing]: [Duration; 2],
    ) -> Self {
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        Self {
            model: name.to_string_lossy().into_owned(),
            sentence: sentence.to_owned(),
            n_uncut,
            text,
            loading,
            computing,
            beside: BesideMaps::default(),
        }
    }

    /// Whether there is such a head.
    pub fn check(&self, (layer, head): HeadOfLayer) -> Result<()> {
        let n_layers = self.text.maps.len();
        let n_heads = self.text.maps.iter().map(Vec::len).max().unwrap_or_default();
        let is_there = self.text.maps.get(layer).is_some_and(|maps| head < maps.len());
        expect_head(is_there, (layer, head), [n_layers, n_heads])
    }

    /// What every key would get by chance, in words.
    pub fn chance(&self) -> String {
        let n = self.text.pieces.len();
        match self.text.is_causal {
            true => "1/k for each of the k keys that a word sees".to_owned(),
            false => format!("1/{n} = {}", share(1.0 / n as f64)),
        }
    }

    /// The two ends of a link: the query and the key.
    pub fn link_names(&self, link: &Link) -> [String; 2] {
        let name = |pieces: &[String], token: usize| {
            let piece = &pieces[token];
            let is_alone = pieces.iter().filter(|other| *other == piece).count() == 1;
            // Which of two that look alike, counted as the tokens are.
            if is_alone { shown(piece) } else { format!("{}({token})", shown(piece)) }
        };
        let pieces = &self.text.pieces;
        let query = match self.text.sight().place(link.query) {
            Some(place) => name(pieces, place),
            None => name(self.text.asking().0, link.query),
        };
        [query, name(pieces, link.key)]
    }
}

/// Refuses a head that is not there, with how many there are.
pub fn expect_head(
    is_there: bool,
    (layer, head): HeadOfLayer,
    [n_layers, n_heads]: [usize; 2],
) -> Result<()> {
    let (layers, heads) = (n_layers.saturating_sub(1), n_heads.saturating_sub(1));
    ensure!(
        is_there,
        "there is no head {layer}.{head}: the model has layers 0 to {layers} and heads 0 to {heads}"
    );
    Ok(())
}

/// The share of what a head prefers, and what that share is by chance, as they are printed.
pub fn preferred_shares(glance: &Glance, uniform: &Glance) -> [String; 2] {
    let kind = glance.preferred(uniform);
    [glance, uniform].map(|it| kind.map_or(String::new(), |kind| share(it.share(kind))))
}

/// A share as it is printed: `.62`.
pub fn share(share: f64) -> String {
    match format!("{share:.2}") {
        one if one.starts_with('1') => one,
        below => below.trim_start_matches('0').to_owned(),
    }
}
