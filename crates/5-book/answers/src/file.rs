//! Numbers in a file: npy, npz, safetensors, or text.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use exercises::Precision;
use npyz::{DType, NpyFile, Order, TypeChar};
use tensors::TensorFile;
use zip::ZipArchive;

use crate::text::{Printed, printed};
use crate::{Error, Result, Value};

/// The numbers of a file, whatever it is by its first bytes.
///
/// In an `.npz` or a `.safetensors` an array is an answer, and the numbers in its name are the
/// case and, where an answer has several, which of them it is: `case_2`, `case_2.0`.
///
/// # Errors
/// A file of another kind, a damaged one, or names without a number.
pub fn value_of_file(name: &str, bytes: Vec<u8>) -> Result<Printed> {
    let refused = |what: String| Error::File { file: name.to_owned(), what };
    if bytes.starts_with(b"\x93NUMPY") {
        let array =
            array(NpyFile::new(&bytes[..]).map_err(|error| refused(error.to_string()))?);
        let (value, precision) = array.map_err(refused)?;
        return Ok(Printed { value, precision });
    }
    if bytes.starts_with(b"PK") {
        return of_arrays(archive(bytes).map_err(refused)?).map_err(refused);
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => printed(&text),
        Ok(text) => safetensors(name, text.into_bytes()),
        Err(error) => safetensors(name, error.into_bytes()),
    }
}

type Named = Vec<(String, Value, Precision)>;

fn safetensors(name: &str, bytes: Vec<u8>) -> Result<Printed> {
    let file = TensorFile::from_bytes(name, bytes)?;
    let mut named = Named::new();
    for name in file.names() {
        let tensor = file.tensor(&name)?;
        let precision = match tensor.dtype().as_str() {
            "BF16" => Precision::BF16,
            "F16" => Precision::F16,
            _ => Precision::FULL,
        };
        let numbers = match tensor.is_bool() {
            true => {
                tensor.flags()?.into_iter().map(|is| f64::from(u8::from(is))).collect()
            }
            false => match tensor.numbers() {
                Ok(numbers) => numbers,
                Err(_) => tensor.integers()?.into_iter().map(|n| n as f64).collect(),
            },
        };
        let value = Value::of_array(tensor.shape(), &numbers);
        named.push((name, value, precision));
    }
    of_arrays(named).map_err(|what| Error::File { file: name.to_owned(), what })
}

/// The arrays of an `.npz`, which is a zip of `.npy` files.
fn archive(bytes: Vec<u8>) -> std::result::Result<Named, String> {
    let text = |error: zip::result::ZipError| error.to_string();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(text)?;
    let mut named = Named::new();
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(text)?;
        let name = entry.name().trim_end_matches(".npy").to_owned();
        let file =
            NpyFile::new(entry.take(LARGEST)).map_err(|it| format!("{name}: {it}"))?;
        let (value, precision) = array(file).map_err(|what| format!("{name}: {what}"))?;
        named.push((name, value, precision));
    }
    Ok(named)
}

const NO_CASE: &str = "does not name a case: call it case_0, or case_0.1 where a case has \
    several arrays";

/// So many bytes of an array are read at most, however far it was compressed.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Arrays under the numbers of their cases.
fn of_arrays(named: Named) -> std::result::Result<Printed, String> {
    let mut cases: BTreeMap<usize, Vec<(usize, Value)>> = BTreeMap::new();
    let mut precision = Precision::FULL;
    for (name, value, own) in named {
        let numbers =
            name.split(|c: char| !c.is_ascii_digit()).filter(|it| !it.is_empty());
        let place: Option<Vec<usize>> = numbers.map(|it| it.parse().ok()).collect();
        let (case, part) = match place.as_deref() {
            Some(&[case]) => (case, usize::MAX),
            Some(&[case, part]) => (case, part),
            _ => return Err(format!("{name:?} {NO_CASE}")),
        };
        cases.entry(case).or_default().push((part, value));
        precision = precision.or(own);
    }
    if let Some((at, _)) = (0..).zip(cases.keys()).find(|(at, case)| at != *case) {
        return Err(format!("case {at} is missing: the cases are counted from 0"));
    }
    let answer = |mut parts: Vec<(usize, Value)>| {
        parts.sort_by_key(|(part, _)| *part);
        match &parts[..] {
            [(usize::MAX, only)] => only.clone(),
            _ => Value::List(parts.into_iter().map(|(_, value)| value).collect()),
        }
    };
    let value = Value::List(cases.into_values().map(answer).collect());
    Ok(Printed { value, precision })
}

/// The entries of an array, and how exact they are.
fn array<R: Read>(file: NpyFile<R>) -> std::result::Result<(Value, Precision), String> {
    let shape: Vec<usize> = file.shape().iter().map(|&n| n as usize).collect();
    let DType::Plain(kind) = file.dtype() else {
        return Err("it has fields, and no plain numbers".into());
    };
    let is_fortran = file.order() == Order::Fortran;
    let (char, size) = (kind.type_char(), kind.size_field());
    macro_rules! read {
        ($type:ty) => {
            file.into_vec::<$type>()
                .map(|all| all.into_iter().map(|x| x as f64).collect())
        };
    }
    let numbers: std::io::Result<Vec<f64>> = match (char, size) {
        (TypeChar::Float, 8) => read!(f64),
        (TypeChar::Float, 4) => read!(f32),
        (TypeChar::Float, 2) => file
            .into_vec::<half::f16>()
            .map(|all| all.into_iter().map(f64::from).collect()),
        (TypeChar::Int, 8) => read!(i64),
        (TypeChar::Int, 4) => read!(i32),
        (TypeChar::Bool, _) => file
            .into_vec::<bool>()
            .map(|all| all.into_iter().map(|is| f64::from(u8::from(is))).collect()),
        _ => return Err(format!("its dtype {kind} is not read: save it as float32")),
    };
    let mut numbers = numbers.map_err(|error| error.to_string())?;
    if is_fortran {
        numbers = in_rows(&shape, &numbers);
    }
    let is_half = (char, size) == (TypeChar::Float, 2);
    let precision = if is_half { Precision::F16 } else { Precision::FULL };
    Ok((Value::of_array(&shape, &numbers), precision))
}

/// Entries whose first axis is the fastest, with the last the fastest.
fn in_rows(shape: &[usize], entries: &[f64]) -> Vec<f64> {
    let mut at = vec![0; shape.len()];
    let mut rows = Vec::with_capacity(entries.len());
    for _ in 0..entries.len() {
        let place = at.iter().zip(shape).rev().fold(0, |place, (at, n)| place * n + at);
        rows.push(entries[place]);
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            if at[axis] < shape[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    rows
}
