//! What a page asks for.

use anyhow::{Context, Result};
use lessons::live::{Live, Settings};
use serde_json::{Map, Value};

/// A live figure, and where its controls stand.
pub struct Request {
    /// The figure.
    pub live: &'static Live,
    /// Its settings.
    pub settings: Settings,
}

impl Request {
    /// A name, and settings as a JSON object of texts; controls that it leaves out stand
    /// where they stand first.
    ///
    /// # Errors
    /// An unknown name or key; a setting that cannot be.
    pub fn read(name: &[u8], settings: &[u8]) -> Result<Self> {
        let live = lessons::gallery::find(
            std::str::from_utf8(name).context("the name of a figure")?,
        )?;
        let texts: Map<String, Value> =
            serde_json::from_slice(settings).context("settings as a JSON object")?;
        let pairs = texts.iter().map(|(key, text)| {
            let text = text.as_str().with_context(|| format!("{key} is not a text"))?;
            Ok((key.as_str(), text))
        });
        let settings = live.settings(pairs.collect::<Result<Vec<_>>>()?)?;
        Ok(Self { live, settings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_name_and_texts() {
        let read = |name: &str, settings: &str| {
            Request::read(name.as_bytes(), settings.as_bytes())
        };
        let live = lessons::gallery::live().next().unwrap();
        let request = read(live.name, "{}").unwrap();
        let [drawn, first] =
            [(request.live.draw)(&request.settings).unwrap(), live.at([]).unwrap()];
        assert_eq!(drawn.to_json(), first.to_json());
        let refused =
            |name, settings| format!("{:#}", read(name, settings).err().unwrap());
        assert!(refused("none", "{}").starts_with("no live figure none; there are: "));
        assert!(refused(live.name, "[]").starts_with("settings as a JSON object: "));
        assert_eq!(refused(live.name, r#"{"d_k": 1}"#), "d_k is not a text");
    }
}
