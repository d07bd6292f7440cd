//! Writes `tests/data/models/ids.tsv`: the texts there, as the trained model's tokenizer gives
//! them.

use workshop::paths;

fn main() -> anyhow::Result<()> {
    let path = look::texts::models().join("ids.tsv");
    std::fs::write(path, look::texts::table(&paths::minilm())?)?;
    Ok(())
}
