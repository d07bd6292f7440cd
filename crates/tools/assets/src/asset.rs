//! Files that pages load, by names that change with their text.

/// A file's name and text.
pub type Asset = (&'static str, &'static str);

/// Where a page finds an asset.
pub fn address((name, text): &Asset) -> String {
    format!("assets/{}", versioned(name, text))
}

/// A file's name as pages ask for it: another one as soon as its bytes are others, so that
/// no browser shows what it kept of an earlier book.
pub fn versioned(name: &str, bytes: impl AsRef<[u8]>) -> String {
    format!("{name}?v={}", hash(bytes))
}

/// FNV-1a: the same on every machine, and enough to tell two versions of a file apart.
fn hash(bytes: impl AsRef<[u8]>) -> String {
    let mix =
        |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", bytes.as_ref().iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_changes_with_the_bytes() {
        assert_eq!(versioned("a.js", ""), "a.js?v=cbf29ce484222325");
        assert_eq!(versioned("a.js", "a"), "a.js?v=af63dc4c8601ec8c");
        assert_eq!(address(&("a.js", "a")), format!("assets/{}", versioned("a.js", "a")));
    }
}
