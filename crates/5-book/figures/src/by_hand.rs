//! What a hand sets in the drawing of a live figure.

use std::collections::BTreeSet;

use crate::Figure;
use crate::figure::Drawn;
use crate::marks::{Mark, Texts};

impl Figure {
    /// The keys of the settings that a press or a drag in the drawing sets.
    pub fn set_by_hand(&self) -> BTreeSet<&str> {
        let settings: Vec<&str> = match &self.drawn {
            Drawn::Chart(plot) => plot.marks.iter().flat_map(Mark::set_by_hand).collect(),
            Drawn::Diagram([wide, _]) => ["data-pick=\"", "data-drag=\""]
                .iter()
                .flat_map(|name| wide.split(*name).skip(1))
                .collect(),
        };
        settings.into_iter().flat_map(keys).collect()
    }

    /// Whether there is a plane in it, in which the tips of arrows are dragged.
    pub fn has_plane(&self) -> bool {
        matches!(&self.drawn, Drawn::Diagram([wide, _]) if wide.contains("data-plane="))
    }
}

impl Mark {
    fn set_by_hand(&self) -> Vec<&str> {
        let one = [&self.picks, &self.paints].into_iter().flatten().map(String::as_str);
        let many = [self.sets.as_ref(), self.drags.as_ref().map(|it| &it.keys)];
        one.chain(many.into_iter().flatten().flat_map(Texts::iter)).collect()
    }
}

/// Of `query=3&key=5`, of an entry of a matrix as `products.0.3`, of what is dragged as
/// `n 0 0.24`.
fn keys(settings: &str) -> impl Iterator<Item = &str> {
    let settings = settings.split('"').next().unwrap_or_default();
    let pairs = settings.split("&amp;").flat_map(|pairs| pairs.split('&'));
    pairs
        .filter_map(|pair| pair.split(['=', '.', ' ']).next())
        .filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::keys;

    #[test]
    fn a_key_is_what_stands_before_its_value_its_entry_or_its_place() {
        let read = |settings| keys(settings).collect::<Vec<_>>();
        assert_eq!(read("query=3&amp;key=5\" x=\"1\""), ["query", "key"]);
        assert_eq!(read("products.0.3"), ["products"]);
        assert_eq!(read("n 0 0.24 4"), ["n"]);
        assert!(read("").is_empty());
    }
}
