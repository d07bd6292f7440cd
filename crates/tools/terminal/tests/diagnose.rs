//! `cargo learn diagnose` as it is run: what it says, and how it ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use attention::Matrix;
use model_files::{Existing, NewTensor, TensorFile, save, to_bytes_with};

fn layer(name: &str) -> PathBuf {
    let layers = "../../5-book/diagnosis/tests/layers";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(layers).join(format!("{name}.safetensors"))
}

fn diagnose(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terminal"));
    command.arg("diagnose").args(arguments).output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Without the path, which is another on every machine.
fn said(output: &Output) -> String {
    let text = text(&output.stdout);
    text.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

/// A small layer of random numbers in a file; `change` may take tensors away or add some.
fn write(folder: &Path, change: impl FnOnce(&mut Vec<NewTensor>)) -> PathBuf {
    let number = |i: usize, j: usize, k: f64| ((i * 7 + j * 13) as f64 * k).sin();
    let matrix = |rows, k| Matrix::from_fn(rows, 4, |i, j| number(i, j, k));
    let new =
        |name, shape: &[usize], m: &Matrix| NewTensor::new(name, shape, [m]).unwrap();
    let mut tensors = vec![
        new("in_proj_weight", &[12, 4], &matrix(12, 0.7)),
        new("out_proj.weight", &[4, 4], &matrix(4, 0.3)),
        new("query", &[1, 3, 4], &matrix(3, 1.1)),
        new("output", &[1, 3, 4], &matrix(3, 0.9)),
    ];
    change(&mut tensors);
    let path = folder.join("layer.safetensors");
    save(&path, &tensors, Existing::Replace).unwrap();
    path
}

/// The file with this in its metadata.
fn write_with(folder: &Path, key: &str, text: &str) -> PathBuf {
    let mut tensors = Vec::new();
    let path = write(folder, |written| tensors.clone_from(written));
    let bytes = to_bytes_with(&tensors, &[(key, text)]).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn it_ends_with_what_it_found() {
    for (name, status) in [("r01", 0), ("r05", 0), ("a01", 1), ("b01", 1), ("u01", 3)] {
        let output = diagnose(&[path(&layer(name))]);
        assert_eq!(output.status.code(), Some(status), "{name}: {}", said(&output));
    }
}

#[test]
fn what_it_says() {
    insta::assert_snapshot!(said(&diagnose(&[path(&layer("a24"))])));
    insta::assert_snapshot!(said(&diagnose(&[path(&layer("s01"))])));
    insta::assert_snapshot!(said(&diagnose(&[path(&layer("u01"))])));
}

#[test]
fn zeros_alone_are_unknown_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), |tensors| {
        let zeros: Matrix = Matrix::zeros(3, 4);
        tensors.pop();
        tensors.push(NewTensor::new("output", &[1, 3, 4], [&zeros]).unwrap());
    });
    let output = diagnose(&[self::path(&path), "--heads", "2"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let said = said(&output);
    assert!(said.contains("Unknown: output is zeros alone.\n"), "{said}");
    assert!(said.contains("no mistake is named"), "{said}");
}

#[test]
fn json_has_the_verdict_and_the_ids() {
    let output = diagnose(&[path(&layer("a21")), "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnosis = &json["diagnosis"];
    assert_eq!(diagnosis["verdict"], "mistake");
    assert_eq!(diagnosis["explanations"][0][0]["id"], "packed-head-by-head");
    assert_eq!(diagnosis["first_difference"], "output");
    let lines = |key: &str| json[key].as_array().unwrap().len();
    assert!(lines("given") >= 5 && lines("assumed") >= 3, "{json}");
    assert_eq!(json["could_not_show"][0]["id"], "k-bias-left-out");
}

#[test]
fn an_input_that_tells_apart_is_written_and_does() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.safetensors");
    // What could not show of a right layer shows in none here.
    let right = diagnose(&[path(&layer("r06")), "--write-input", path(&input)]);
    assert!(right.status.success() && !input.exists(), "{}", said(&right));
    let output = diagnose(&[path(&layer("a08")), "--write-input", path(&input)]);
    assert_eq!(output.status.code(), Some(1));
    let file = TensorFile::open(&input).unwrap();
    assert!(file.contains("query") && !file.contains("output"), "{:?}", file.names());
    // What is not there yet is what the reader's code should give.
    let without = diagnose(&[path(&input), "--heads", "3"]);
    assert_eq!(without.status.code(), Some(2));
    assert!(
        text(&without.stderr).contains("there is no output"),
        "{}",
        text(&without.stderr)
    );
}

#[test]
fn what_cannot_be_read_is_status_2_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path, more: &[&str]| {
        let output = diagnose(&[&[self::path(path)], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let error = text(&output.stderr);
        let error = error.lines().find(|line| line.starts_with("error")).unwrap_or("");
        error.replace(self::path(path), "FILE").to_string()
    };
    let all = write(folder.path(), |_| ());
    insta::assert_snapshot!(refused(&all, &["--heads", "3"]));
    insta::assert_snapshot!(refused(&all, &["--heads", "0"]));
    insta::assert_snapshot!(refused(&all, &["--heads", "8"]));
    insta::assert_snapshot!(refused(&all, &[]));
    let path = write(folder.path(), |tensors| tensors.truncate(3));
    insta::assert_snapshot!(refused(&path, &["--heads", "2"]));
    let path = write(folder.path(), |tensors| {
        tensors.remove(2);
    });
    insta::assert_snapshot!(refused(&path, &["--heads", "2"]));
    let path = write(folder.path(), |tensors| {
        tensors.remove(0);
    });
    insta::assert_snapshot!(refused(&path, &["--heads", "2"]));
    let other = Matrix::from_element(2, 5, 1.0);
    let path = write(folder.path(), |tensors| {
        tensors[3] = NewTensor::new("output", &[1, 2, 5], [&other]).unwrap();
    });
    insta::assert_snapshot!(refused(&path, &["--heads", "2"]));
    let mask = Matrix::from_element(2, 5, 1.0);
    let path = write(folder.path(), |tensors| {
        tensors.push(NewTensor::new("attn_mask", &[2, 5], [&mask]).unwrap());
    });
    insta::assert_snapshot!(refused(&path, &["--heads", "2"]));
    let infinite = Matrix::from_element(3, 4, f64::NAN);
    let path = write(folder.path(), |tensors| {
        tensors[2] = NewTensor::new("query", &[1, 3, 4], [&infinite]).unwrap();
    });
    insta::assert_snapshot!(refused(&path, &["--heads", "2"]));
    for (key, text) in [
        ("heads", "two"),
        ("causal", "lower"),
        ("rotary", "yes"),
        ("rope_theta", "ten"),
        ("layout", "(h, batch, d)"),
    ] {
        let path = write_with(folder.path(), key, text);
        let error = refused(&path, if key == "heads" { &[] } else { &["--heads", "2"] });
        assert!(error.contains(&format!("{key} = {text:?}")), "{error}");
    }
}

#[test]
fn numbers_without_a_meaning_are_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let layer = write(folder.path(), |_| ());
    for (option, number) in [
        ("--scale", "nan"),
        ("--scale", "inf"),
        ("--scale", "0"),
        ("--base", "nan"),
        ("--base", "0"),
        ("--cap", "0"),
        ("--cap", "-inf"),
        ("--heads", "18446744073709551615"),
        ("--kv-heads", "9223372036854775807"),
        ("--kv-heads", "18446744073709551615"),
    ] {
        let heads = if option == "--heads" { vec![] } else { vec!["--heads", "2"] };
        let option = [format!("{option}={number}")];
        let option = option.iter().map(String::as_str);
        let all: Vec<&str> =
            [path(&layer)].into_iter().chain(heads).chain(option).collect();
        let output = diagnose(&all);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{all:?}: {error}");
        let error = error.to_lowercase();
        assert!(error.contains("error: ") && error.contains(number), "{all:?}: {error}");
    }
    assert_ne!(
        diagnose(&[path(&layer), "--heads=2", "--scale=-0.5"]).status.code(),
        Some(2)
    );
}

#[test]
fn more_scores_than_are_computed_are_refused_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let long: Matrix = Matrix::from_fn(40_000, 4, |i, j| (i + j) as f64);
    let path = write(folder.path(), |tensors| {
        for (nth, name) in [(2, "query"), (3, "output")] {
            tensors[nth] = NewTensor::new(name, &[1, 40_000, 4], [&long]).unwrap();
        }
    });
    let output = diagnose(&[self::path(&path), "--heads", "2"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("have 3200000000 scores"), "{error}");
}

#[test]
fn a_name_that_no_file_has_is_refused() {
    let layer = layer("a01");
    for name in ["w_q=foo", "=x", "output="] {
        let output = diagnose(&[path(&layer), "--name", name]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {error}");
        assert!(error.contains(name) && error.contains("no tensor"), "{name}: {error}");
    }
}

#[test]
fn json_stays_json_beside_an_input_that_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.safetensors");
    let arguments =
        [path(&layer("a08")).to_owned(), "--json".into(), "--write-input".into()];
    let arguments = arguments.iter().map(String::as_str).chain([path(&input)]);
    let arguments: Vec<&str> = arguments.collect();
    let output = diagnose(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["diagnosis"]["verdict"], "mistake");
    assert!(text(&output.stderr).contains("Wrote "), "{}", text(&output.stderr));
    // Of what exists already it is known before anything is computed.
    let again = diagnose(&arguments);
    assert_eq!((again.status.code(), again.stdout.len()), (Some(2), 0));
    let error = text(&again.stderr);
    assert!(
        error.contains("exists already") && error.contains("--write-input"),
        "{error}"
    );
}

#[test]
fn a_verdict_is_the_status_where_nobody_reads_it() {
    for (name, status) in [("r01", 0), ("a01", 1), ("u01", 3)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_terminal"));
        command.arg("diagnose").arg(layer(name)).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{name}");
    }
}

#[test]
fn what_the_metadata_says_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_with(folder.path(), "heads", "2");
    assert!(said(&diagnose(&[self::path(&path)])).contains("2 heads"));
    // What is said on the command line goes before what the file says.
    let path = write_with(folder.path(), "heads", "two");
    assert!(said(&diagnose(&[self::path(&path), "--heads", "2"])).contains("2 heads"));
}

#[test]
fn one_head_and_numbers_that_are_nan_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), |tensors| {
        let nan: Matrix = Matrix::from_element(3, 4, f64::NAN);
        tensors[3] = NewTensor::new("output", &[1, 3, 4], [&nan]).unwrap();
    });
    let output = diagnose(&[self::path(&path), "--heads", "1"]);
    let text = said(&output);
    for words in ["you say: 1 head;", "infinitely far (12 numbers are NaN"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn names_of_ones_own_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = TensorFile::open(layer("a03")).unwrap();
    let renamed = |name: &str| match name {
        "in_proj_weight" => "mine.packed.weight".to_string(),
        "in_proj_bias" => "mine.packed.bias".to_string(),
        "output" => "result".to_string(),
        other => other.to_string(),
    };
    let tensors: Vec<NewTensor> = file
        .names()
        .iter()
        .map(|name| {
            let tensor = file.tensor(name).unwrap();
            let numbers = tensor.numbers().unwrap();
            let row = Matrix::from_row_slice(1, numbers.len(), &numbers);
            let row: Matrix<f32> = row.map(|x| x as f32);
            NewTensor::new(renamed(name), tensor.shape(), [&row]).unwrap()
        })
        .collect();
    let own = folder.path().join("own.safetensors");
    save(&own, &tensors, Existing::Keep).unwrap();
    let names = ["--name", "in_proj=mine.packed.weight", "--name", "output=result"];
    let output = diagnose(&[&[path(&own), "--heads", "3"], &names[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        said(&output).contains("A mistake: scaled by sqrt(d_model)"),
        "{}",
        said(&output)
    );
}

#[test]
fn parameters_may_stand_in_a_file_of_their_own() {
    let both = layer("a01");
    let output = diagnose(&["--layer", path(&both), "--tensors", path(&both)]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

#[test]
fn lines_to_paste_are_printed() {
    for (name, line) in [("torch", "register_forward_hook"), ("jax", "save_file")] {
        let output = diagnose(&["--snippet", name]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains(line), "{name}");
    }
}

/// A layer of candle's, which keeps itself by the very lines that are printed.
#[test]
#[ignore = "compiles candle and burn: minutes, once"]
fn what_the_lines_for_candle_write_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let peers = workshop::paths::workspace().join("crates/tools/bench/peers/rust");
    let run = ["run", "--release", "--locked", "--example", "layer_file"];
    for (axis, status) in [("over-keys", 0), ("over-queries", 1)] {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(run).arg("--manifest-path").arg(peers.join("Cargo.toml"));
        cargo.env("CARGO_TARGET_DIR", workshop::paths::state().join("peers"));
        cargo.env_remove("RUSTFLAGS").current_dir(folder.path());
        let written = cargo.args(["--", axis]).output().unwrap();
        assert!(written.status.success(), "{}", text(&written.stderr));
        let file = folder.path().join("layer.safetensors");
        let output = diagnose(&[path(&file), "--heads", "3"]);
        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
        assert_eq!(said(&output).contains("softmax over queries"), status == 1);
    }
}

/// The layer with a tensor's numbers changed, each by its place.
fn changed(bytes: &mut [u8], tensor: &str, change: impl Fn(usize, f32) -> f32) {
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
    let offsets = &header[tensor]["data_offsets"];
    let [from, to] = [0, 1].map(|i| 8 + n + offsets[i].as_u64().unwrap() as usize);
    for (i, number) in bytes[from..to].chunks_mut(4).enumerate() {
        let x = change(i, f32::from_le_bytes(number.try_into().unwrap()));
        number.copy_from_slice(&x.to_le_bytes());
    }
}

fn written(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("changed.safetensors");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_a_coarser_way_of_computing_explains_is_right_on_that_condition() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(layer("r01")).unwrap();
    // As no mistake does.
    changed(&mut bytes, "output", |i, x| x + 2e-4 * (i as f32 * 12.9898).sin());
    let moved = written(folder.path(), &bytes);
    let output = diagnose(&[path(&moved)]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("Right only if your code multiplies in"), "{text}");
    assert!(text.contains("If not, "), "{text}");
    let output = diagnose(&[path(&moved), "--computed", "bfloat16-products"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn a_number_that_is_another_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(layer("r01")).unwrap();
    // W^Q and its bias, 24 rows of them, times 3/4: its output is that of a scale of 4/3.
    let shrunk = |row, x| if row < 24 { 0.75 * x } else { x };
    changed(&mut bytes, "in_proj_weight", |i, x| shrunk(i / 24, x));
    changed(&mut bytes, "in_proj_bias", shrunk);
    let file = written(folder.path(), &bytes);
    let output = diagnose(&[path(&file)]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("A number is another: scaled by 0.471"), "{text}");
    assert!(text.contains("; meant was 0.354"), "{text}");
}
