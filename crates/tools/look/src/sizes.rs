//! How much memory an answer takes, counted before any of it is there.

use anyhow::{Result, anyhow, ensure};
use model_files::Sequence;
use models::translators::{Files, Half};

/// So many bytes of what a model gives are kept for a file, and no more.
const MOST_BYTES: u128 = 4 << 30;

/// And so many of the maps that a page, a picture or a table is made of.
const MOST_OF_MAPS: usize = 2 << 30;

/// Maps of `n_layers` layers of `n_heads` heads, and the numbers of a token beside them.
#[derive(Debug, Clone, Copy)]
pub struct OutputSizes {
    n_layers: usize,
    n_heads: usize,
    /// Hidden states and logits.
    per_token: u128,
}

impl OutputSizes {
    /// Of a model of these sizes, with a logit for each token of a vocabulary or of none.
    pub fn new(
        [n_layers, n_heads]: [usize; 2],
        d_model: usize,
        n_vocabulary: usize,
    ) -> Self {
        let hidden = product([n_layers.saturating_add(1), d_model]);
        let per_token = hidden.saturating_add(n_vocabulary as u128);
        Self { n_layers, n_heads, per_token }
    }

    /// How many numbers there are of so many queries and keys.
    fn numbers(self, [n_q, n_kv]: [usize; 2]) -> u128 {
        let maps = product([n_q, n_kv, self.n_layers, self.n_heads]);
        maps.saturating_add(self.per_token.saturating_mul(n_q as u128))
    }
}

fn product<const N: usize>(factors: [usize; N]) -> u128 {
    factors.into_iter().fold(1, |product, it| product.saturating_mul(it as u128))
}

/// Whether what a model gives of these sequences, in numbers of `width` bytes, is no more
/// than is kept.
pub fn expect_room(
    sizes: OutputSizes,
    sequences: &[Sequence],
    width: usize,
) -> Result<()> {
    let numbers = |one: &Sequence| sizes.numbers([one.n_tokens(); 2]);
    let all = sequences.iter().map(numbers).fold(0, u128::saturating_add);
    let longest = sequences.iter().map(Sequence::n_tokens).max().unwrap_or(0);
    let tokens = format!("{longest} tokens");
    expect_bytes(all, width, sequences.len(), &tokens)
}

/// The same of sources and targets, by how many tokens each has.
pub fn expect_room_of_pairs(
    files: &Files,
    pairs: &[[usize; 2]],
    width: usize,
) -> Result<()> {
    let config = &files.config;
    let sizes = |half: Half, n_vocabulary| {
        let n_heads = [half.n_layers, half.sizes.dims.n_heads()];
        OutputSizes::new(n_heads, config.d_model(), n_vocabulary)
    };
    let encoder = sizes(config.encoder, 0);
    let decoder = sizes(config.decoder, config.n_target_vocabulary);
    let cross = OutputSizes { per_token: 0, ..decoder };
    let numbers = |&[source, target]: &[usize; 2]| {
        let (of_source, of_target) =
            (encoder.numbers([source; 2]), decoder.numbers([target; 2]));
        let of_cross = cross.numbers([target, source]);
        of_source.saturating_add(of_target).saturating_add(of_cross)
    };
    let all = pairs.iter().map(numbers).fold(0, u128::saturating_add);
    let longest = |side: usize| pairs.iter().map(|pair| pair[side]).max().unwrap_or(0);
    let tokens = format!("{} tokens, and {} to write", longest(0), longest(1));
    expect_bytes(all, width, pairs.len(), &tokens)
}

fn expect_bytes(n: u128, width: usize, n_texts: usize, tokens: &str) -> Result<()> {
    let bytes = n.saturating_mul(width as u128);
    ensure!(
        bytes <= MOST_BYTES,
        "{n_texts} {} of up to {tokens}: all their maps and states take {:.1} GB, and {:.1} \
         GB at most are kept",
        if n_texts == 1 { "text" } else { "texts" },
        1e-9 * bytes as f64,
        1e-9 * MOST_BYTES as f64
    );
    Ok(())
}

/// Whether so many maps of these queries and keys are no more than is kept.
pub fn check_size(lengths: [usize; 2], n_heads: usize) -> Result<()> {
    expect_maps(lengths, n_heads).map_err(|why| {
        anyhow!("{why}: `--queries` chooses who asks, and `--layer` one layer")
    })
}

/// The same where neither tokens nor layers can be chosen.
pub fn expect_maps([n_q, n_kv]: [usize; 2], n_heads: usize) -> Result<()> {
    let bytes = [n_q, n_kv, n_heads].into_iter().try_fold(4usize, usize::checked_mul);
    let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    ensure!(
        bytes.is_some_and(|bytes| bytes <= MOST_OF_MAPS),
        "{n_heads} maps of {n_q} queries on {n_kv} keys take {}, and {} at most are kept",
        gigabytes(4.0 * n_q as f64 * n_kv as f64 * n_heads as f64),
        gigabytes(MOST_OF_MAPS as f64)
    );
    Ok(())
}

/// Names the option that helps with a text that is too long.
pub fn cut_hint<T>(outcome: ::texts::Result<T>) -> Result<T> {
    outcome.map_err(|error| match error {
        ::texts::Error::LongText { .. } => {
            anyhow!("{error}: `--truncate` cuts its end")
        }
        error => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_that_would_fill_the_memory_are_refused() {
        assert!(check_size([16, 8192], 270).is_ok());
        let refused = check_size([8192, 8192], 270).unwrap_err();
        insta::assert_snapshot!(refused, @"270 maps of 8192 queries on 8192 keys take 72.5 GB, and 2.1 GB at most are kept: `--queries` chooses who asks, and `--layer` one layer");
        assert!(check_size([usize::MAX, 2], 2).is_err());
    }

    #[test]
    fn what_is_kept_is_counted_and_never_overflows() {
        let sizes = OutputSizes::new([2, 3], 5, 7);
        assert_eq!(sizes.numbers([4, 6]), 4 * 6 * 2 * 3 + 4 * (3 * 5 + 7));
        let most = OutputSizes::new([usize::MAX; 2], 1, 0).numbers([usize::MAX; 2]);
        assert_eq!(most, u128::MAX);
        assert!(expect_bytes(u128::MAX, 8, 1, "2 tokens").is_err());
        assert!(expect_bytes(1 << 29, 8, 2, "2 tokens").is_ok());
        let refused = expect_bytes(1 << 30, 8, 2, "2 tokens").unwrap_err();
        insta::assert_snapshot!(refused, @"2 texts of up to 2 tokens: all their maps and states take 8.6 GB, and 4.3 GB at most are kept");
    }
}
