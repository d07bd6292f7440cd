//! What is to be seen of a sentence.

use attention::Matrix;
use encoders::{Glance, links};
use model_files::shown;
use serde_json::{Value, json};

/// How many links of a head are told.
const N_LINKS: usize = 3;

/// A sentence in all heads.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// Its tokens.
    pub pieces: Vec<String>,
    /// Which of them the tokenizer put there.
    pub is_special: Vec<bool>,
    /// `maps[l][i]`, `[n, n]`.
    pub maps: Vec<Vec<Matrix<f32>>>,
}

impl Looked {
    /// All but the maps themselves: pieces, and per head what it prefers, its strongest
    /// links and each query's strongest key, all with their controls.
    pub fn to_json(&self) -> Value {
        let uniform = Glance::uniform(&self.is_special);
        let heads = self.maps.iter().enumerate().flat_map(|(layer, maps)| {
            let uniform = uniform.as_ref();
            maps.iter().enumerate().map(move |(head, map)| {
                let mut told = self.head(map, uniform);
                told["name"] = json!(format!("{layer}.{head}"));
                told
            })
        });
        json!({
            "pieces": self.pieces.iter().map(|piece| shown(piece)).collect::<Vec<_>>(),
            "special": self.is_special,
            "n_heads": self.maps.first().map_or(0, Vec::len),
            "heads": heads.collect::<Vec<_>>(),
        })
    }

    fn head(&self, map: &Matrix<f32>, uniform: Option<&Glance>) -> Value {
        let links = links(map, &self.is_special, N_LINKS);
        let links = links.iter().map(|it| json!([it.query, it.key, it.share, it.others]));
        let strongest = (0..map.nrows()).map(|query| strongest(map, query));
        let mut told = json!({
            "links": links.collect::<Vec<_>>(),
            "strongest": strongest.collect::<Vec<_>>(),
        });
        if let (Some(glance), Some(uniform)) =
            (Glance::of(map, &self.is_special), uniform)
        {
            let kind = glance.preferred(uniform);
            told["prefers"] = json!(glance.preference(uniform));
            told["share"] = json!(kind.map(|kind| glance.share(kind)));
            told["chance"] = json!(kind.map(|kind| uniform.share(kind)));
            told["bits"] = json!(glance.entropy);
            told["away"] = json!(glance.distance);
        }
        told
    }

    /// Every share as four bytes, the lowest first: layer by layer, head by head, row by
    /// row.
    pub fn shares(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in self.maps.iter().flatten().flat_map(Matrix::row_iter) {
            bytes.extend(row.iter().flat_map(|share| share.to_le_bytes()));
        }
        bytes
    }
}

/// The strongest key of a query, its share, and the control: what the other queries give
/// the same key on average.
fn strongest(map: &Matrix<f32>, query: usize) -> Value {
    let larger =
        |a: usize, b: usize| if map[(query, b)] > map[(query, a)] { b } else { a };
    let key = (0..map.ncols()).fold(0, larger);
    let share = f64::from(map[(query, key)]);
    let all: f64 = map.column(key).iter().map(|&share| f64::from(share)).sum();
    let n_others = map.nrows().saturating_sub(1).max(1);
    json!([key, share, (all - share) / n_others as f64])
}
