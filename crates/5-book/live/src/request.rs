//! What a page asks for.

use anyhow::{Context, Result, bail};
use lessons::live::Live;
use serde_json::{Map, Value};

/// A live figure, and where its controls stand.
pub struct Request {
    /// The figure.
    pub live: &'static dyn Live,
    /// Keys, and the texts that their controls are set to.
    pub texts: Vec<(String, String)>,
}

impl Request {
    /// A name, and settings as a JSON object of texts; controls that it leaves out stand
    /// where they stand first.
    ///
    /// # Errors
    /// An unknown name; settings that are no texts.
    pub fn read(name: &[u8], settings: &[u8]) -> Result<Self> {
        let live = lessons::gallery::find(
            std::str::from_utf8(name).context("the name of a figure")?,
        )?;
        let texts: Map<String, Value> =
            serde_json::from_slice(settings).context("settings as a JSON object")?;
        let texts = texts.into_iter().map(|(key, text)| match text {
            Value::String(text) => Ok((key, text)),
            _ => bail!("{key} is not a text"),
        });
        Ok(Self { live, texts: texts.collect::<Result<_>>()? })
    }
}

/// The same, borrowed.
pub fn pairs(texts: &[(String, String)]) -> Vec<(&str, &str)> {
    texts.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect()
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
        let request = read(live.name(), "{}").unwrap();
        let drawn = request.live.draw(&pairs(&request.texts)).unwrap();
        assert_eq!(drawn, live.draw(&[]).unwrap());
        let refused =
            |name, settings| format!("{:#}", read(name, settings).err().unwrap());
        assert!(refused("none", "{}").starts_with("no live figure none; there are: "));
        assert!(refused(live.name(), "[]").starts_with("settings as a JSON object: "));
        assert_eq!(refused(live.name(), r#"{"d_k": 1}"#), "d_k is not a text");
    }
}
