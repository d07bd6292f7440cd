//! Maps to a file that [`read`](super::read) understands.

use serde_json::json;
use tensors::{NewTensor, to_bytes_with};

use crate::TextHeads;
use crate::error::Result;

/// The bytes of a file with a text's maps, a tensor per layer, and its tokens.
///
/// # Errors
/// [`Error::Tensors`](crate::Error::Tensors).
pub fn to_bytes(text: &TextHeads) -> Result<Vec<u8>> {
    let (queries, _) = text.asking();
    let (n_q, n_kv) = (queries.len(), text.pieces.len());
    let tensor = |(l, heads): (usize, &Vec<_>)| {
        NewTensor::new(format!("attn.{l}"), &[heads.len(), n_q, n_kv], heads)
    };
    let tensors =
        text.maps.iter().enumerate().map(tensor).collect::<Result<Vec<_>, _>>()?;
    let mut texts = vec![
        ("tokens", json!(text.pieces).to_string()),
        ("special", json!(text.is_special).to_string()),
    ];
    match (&text.places, &text.queries) {
        (Some(places), _) => texts.push(("places", json!(places).to_string())),
        (None, Some(queries)) => {
            texts.push(("queries", json!(queries.pieces).to_string()));
            texts.push(("queries_special", json!(queries.is_special).to_string()));
        }
        (None, None) => {}
    }
    let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
    Ok(to_bytes_with(&tensors, &texts)?)
}
