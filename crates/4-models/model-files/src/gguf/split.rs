//! A model in several files: `NAME-00001-of-00003.gguf` and those beside it.

use std::path::Path;

use super::{Gguf, GgufError, GgufResult, Value};

/// # Source
/// The keys as `llama-gguf-split` of llama.cpp writes them.
const PART: &str = "split.no";
const N_PARTS: &str = "split.count";
const N_TENSORS: &str = "split.tensors.count";

/// A file that must be the whole model.
pub(super) fn alone(file: Gguf) -> GgufResult<Gguf> {
    match place(&file)? {
        None => Ok(file),
        Some((part, n_parts)) => Err(wrong(&file, part, n_parts, "it is alone".into())),
    }
}

/// A file with the other parts, which lie beside it.
///
/// # Errors
/// [`GgufError::Split`] unless it is the first part, and all others are there and fit;
/// as [`Gguf::open`] for them.
pub(super) fn joined(path: &Path, mut file: Gguf) -> GgufResult<Gguf> {
    let Some((part, n_parts)) = place(&file)? else { return Ok(file) };
    let wrong = |file: &Gguf, why: String| Err(wrong(file, part, n_parts, why));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(start) = name.strip_suffix(&ending(part, n_parts)) else {
        let why = format!("its name should end in {}", ending(part, n_parts));
        return wrong(&file, why);
    };
    if part != 0 {
        let first = format!("{start}{}", ending(0, n_parts));
        return wrong(&file, format!("the first part, {first}, is the one to be named"));
    }
    for part in 1..n_parts {
        let other = path.with_file_name(format!("{start}{}", ending(part, n_parts)));
        if !other.is_file() {
            let other = other.file_name().unwrap_or_default().to_string_lossy();
            return wrong(&file, format!("{other} is not beside it"));
        }
        let other = Gguf::open_alone(&other)?;
        if place(&other)? != Some((part, n_parts)) {
            let why = format!("{} says that it is another part", other.name);
            return wrong(&file, why);
        }
        add(&mut file, other)?;
    }
    let (found, expected) = (file.tensors.len(), file.metadata.get(N_TENSORS));
    match expected {
        Some(Value::Whole(expected)) if *expected != found as i128 => {
            let why = format!("its parts have {found} tensors, and it had {expected}");
            wrong(&file, why)
        }
        _ => Ok(file),
    }
}

/// Which part this is, from 0, and of how many; `None` for a whole model.
fn place(file: &Gguf) -> GgufResult<Option<(i128, i128)>> {
    let whole = |key: &str| match file.metadata.get(key) {
        None => Ok(None),
        Some(Value::Whole(number)) if (0..1 << 16).contains(number) => Ok(Some(*number)),
        Some(_) => Err(file.wrong(key, "a whole number below 65536")),
    };
    let (part, n_parts) = (whole(PART)?.unwrap_or(0), whole(N_PARTS)?.unwrap_or(1));
    Ok((n_parts > 1).then_some((part, n_parts)))
}

fn ending(part: i128, n_parts: i128) -> String {
    format!("-{:05}-of-{n_parts:05}.gguf", part + 1)
}

/// The tensors of another part; its settings may say nothing new.
fn add(file: &mut Gguf, other: Gguf) -> GgufResult<()> {
    let news = other.metadata.iter().find(|(key, value)| {
        !key.starts_with("split.") && file.metadata.get(*key) != Some(value)
    });
    if let Some((key, value)) = news {
        let (key, found) = (key.clone(), value.to_string());
        let why = "the first part says otherwise, or nothing";
        return Err(GgufError::UnknownSetting { file: other.name, key, found, why });
    }
    let part = file.parts.len();
    for (name, info) in other.tensors {
        let info = super::Info { part, ..info };
        if file.tensors.insert(name.clone(), info).is_some() {
            let what = format!("an earlier part has the tensor {name} too");
            return Err(GgufError::Header { file: other.name, what });
        }
    }
    file.parts.extend(other.parts);
    Ok(())
}

fn wrong(file: &Gguf, part: i128, n_parts: i128, why: String) -> GgufError {
    GgufError::Split { file: file.name.clone(), part: part + 1, n_parts, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GgufWriter;
    use std::fs;

    fn part(part: u32, n_parts: u32) -> GgufWriter {
        let name = format!("w{part}");
        GgufWriter::default()
            .whole(PART, part)
            .whole(N_PARTS, n_parts)
            .whole(N_TENSORS, 2)
            .floats(&name, &[2], &[f64::from(part), 0.5])
    }

    fn write(parts: [GgufWriter; 2]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (i, part) in parts.into_iter().enumerate() {
            let name = format!("m-0000{}-of-00002.gguf", i + 1);
            fs::write(folder.path().join(name), part.bytes()).unwrap();
        }
        folder
    }

    fn refused(folder: &tempfile::TempDir, name: &str) -> String {
        let error = Gguf::open(folder.path().join(name)).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER").replace('\\', "/")
    }

    #[test]
    fn all_parts_are_read_from_the_first() {
        let folder = write([part(0, 2), part(1, 2)]);
        let file = Gguf::open(folder.path().join("m-00001-of-00002.gguf")).unwrap();
        assert_eq!(file.numbers::<f64>("w0", &[2]).unwrap(), [0.0, 0.5]);
        assert_eq!(file.numbers::<f64>("w1", &[2]).unwrap(), [1.0, 0.5]);
    }

    #[test]
    fn a_part_without_the_others_is_refused_with_its_number() {
        let folder = write([part(0, 2), part(1, 2)]);
        insta::assert_snapshot!(refused(&folder, "m-00002-of-00002.gguf"), @"FOLDER/m-00002-of-00002.gguf is part 2 of 2 of a model that was split: the first part, m-00001-of-00002.gguf, is the one to be named; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
        fs::remove_file(folder.path().join("m-00002-of-00002.gguf")).unwrap();
        insta::assert_snapshot!(refused(&folder, "m-00001-of-00002.gguf"), @"FOLDER/m-00001-of-00002.gguf is part 1 of 2 of a model that was split: m-00002-of-00002.gguf is not beside it; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
        let from = folder.path().join("m-00001-of-00002.gguf");
        fs::rename(from, folder.path().join("model.gguf")).unwrap();
        insta::assert_snapshot!(refused(&folder, "model.gguf"), @"FOLDER/model.gguf is part 1 of 2 of a model that was split: its name should end in -00001-of-00002.gguf; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
        let bytes = Gguf::from_bytes("model.gguf", part(0, 2).bytes()).unwrap_err();
        insta::assert_snapshot!(bytes, @"model.gguf is part 1 of 2 of a model that was split: it is alone; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let first = "m-00001-of-00002.gguf";
        insta::assert_snapshot!(refused(&write([part(0, 2), part(0, 2)]), first), @"FOLDER/m-00001-of-00002.gguf is part 1 of 2 of a model that was split: FOLDER/m-00002-of-00002.gguf says that it is another part; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
        insta::assert_snapshot!(refused(&write([part(0, 2), part(1, 3)]), first), @"FOLDER/m-00001-of-00002.gguf is part 1 of 2 of a model that was split: FOLDER/m-00002-of-00002.gguf says that it is another part; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
        let doubled = part(1, 2).floats("w0", &[1], &[1.0]);
        insta::assert_snapshot!(refused(&write([part(0, 2), doubled]), first), @"FOLDER/m-00002-of-00002.gguf: an earlier part has the tensor w0 too");
        let more = part(1, 2).floats("w2", &[1], &[1.0]);
        insta::assert_snapshot!(refused(&write([part(0, 2), more]), first), @"FOLDER/m-00001-of-00002.gguf is part 1 of 2 of a model that was split: its parts have 3 tensors, and it had 2; `llama-gguf-split --merge FIRST-PART NEW-FILE` joins them");
        let news = part(1, 2).whole("llama.block_count", 2);
        insta::assert_snapshot!(refused(&write([part(0, 2), news]), first), @"FOLDER/m-00002-of-00002.gguf: llama.block_count is 2: the first part says otherwise, or nothing");
    }
}
