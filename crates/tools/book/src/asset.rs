//! Files that pages load, by names that change with their text.

/// A file's name and text.
pub type Asset = (&'static str, &'static str);

/// Where a page finds an asset.
pub(crate) fn address((name, text): &Asset) -> String {
    format!("assets/{name}?v={}", hash(text))
}

/// FNV-1a: the same on every machine, and enough to tell two versions of a file apart.
pub(crate) fn hash(bytes: impl AsRef<[u8]>) -> String {
    let mix =
        |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", bytes.as_ref().iter().fold(0xcbf2_9ce4_8422_2325, mix))
}
