//! `cargo learn diagnose` as it is run: what it says, and how it ends.

mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use attention::Matrix;
use run::{changed, diagnose, layer, run};
use tensors::{NewTensor, TensorFile, to_bytes_with};

type Tensors = Vec<NewTensor>;

fn new(name: &str, shape: &[usize], m: &Matrix) -> NewTensor {
    NewTensor::new(name, shape, [m]).unwrap()
}

/// A small layer of random numbers in a file, with this in its metadata; `change` may take
/// tensors away or add some.
fn write_with(
    folder: &Path,
    texts: &[(&str, &str)],
    change: impl FnOnce(&mut Tensors),
) -> PathBuf {
    let number = |i: usize, j: usize, k: f64| ((i * 7 + j * 13) as f64 * k).sin();
    let matrix = |rows, k| Matrix::from_fn(rows, 4, |i, j| number(i, j, k));
    let mut tensors = vec![
        new("in_proj_weight", &[12, 4], &matrix(12, 0.7)),
        new("out_proj.weight", &[4, 4], &matrix(4, 0.3)),
        new("query", &[1, 3, 4], &matrix(3, 1.1)),
        new("output", &[1, 3, 4], &matrix(3, 0.9)),
    ];
    change(&mut tensors);
    let path = folder.join("layer.safetensors");
    std::fs::write(&path, to_bytes_with(&tensors, texts).unwrap()).unwrap();
    path
}

fn write(folder: &Path, change: impl FnOnce(&mut Tensors)) -> PathBuf {
    write_with(folder, &[], change)
}

#[test]
fn it_ends_with_what_it_found() {
    for (name, status) in [("r01", 0), ("r05", 0), ("a01", 1), ("b01", 1), ("u01", 3)] {
        diagnose(&layer(name), &[]).with(status);
    }
}

#[test]
fn what_it_says() {
    for name in ["a24", "s01", "u01"] {
        insta::assert_snapshot!(diagnose(&layer(name), &[]).without_path());
    }
}

#[test]
fn zeros_alone_are_unknown_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let zeros = new("output", &[1, 3, 4], &Matrix::zeros(3, 4));
    let path = write(folder.path(), |tensors| tensors[3] = zeros);
    let ended = diagnose(&path, &["--heads", "2"]);
    ended.with(3).says("Unknown: output is zeros alone.\n").says("no mistake is named");
}

#[test]
fn json_has_the_verdict_and_the_ids() {
    let json = diagnose(&layer("a21"), &["--json"]).json();
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
    let options = ["--write-input", input.to_str().unwrap()];
    // What could not show of a right layer shows in none here.
    diagnose(&layer("r06"), &options).with(0);
    assert!(!input.exists());
    diagnose(&layer("a08"), &options).with(1);
    let file = TensorFile::open(&input).unwrap();
    assert!(file.contains("query") && !file.contains("output"), "{:?}", file.names());
    // What is not there yet is what the reader's code should give.
    diagnose(&input, &["--heads", "3"]).refuses("there is no output");
}

type Change = fn(&mut Tensors);

/// What is done to the small layer, and the options beside its file.
const REFUSED: [(&[&str], Change); 10] = [
    (&["--heads", "3"], |_| ()),
    (&["--heads", "0"], |_| ()),
    (&["--heads", "8"], |_| ()),
    (&[], |_| ()),
    (&["--heads", "2"], |tensors| tensors.truncate(3)),
    (&["--heads", "2"], |tensors| drop(tensors.remove(2))),
    (&["--heads", "2"], |tensors| drop(tensors.remove(0))),
    (&["--heads", "2"], |tensors| {
        tensors[3] = new("output", &[1, 2, 5], &Matrix::from_element(2, 5, 1.0));
    }),
    (&["--heads", "2"], |tensors| {
        tensors.push(new("attn_mask", &[2, 5], &Matrix::from_element(2, 5, 1.0)));
    }),
    (&["--heads", "2"], |tensors| {
        tensors[2] = new("query", &[1, 3, 4], &Matrix::from_element(3, 4, f64::NAN));
    }),
];

#[test]
fn what_cannot_be_read_is_status_2_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (options, change) in REFUSED {
        let path = write(folder.path(), change);
        let ended = diagnose(&path, options);
        let mut lines = ended.with(2).error.lines();
        let error = lines.find(|line| line.starts_with("error")).unwrap_or("");
        insta::assert_snapshot!(error.replace(path.to_str().unwrap(), "FILE"));
    }
    for (key, text) in [
        ("heads", "two"),
        ("causal", "lower"),
        ("rotary", "yes"),
        ("rope_theta", "ten"),
        ("layout", "(h, batch, d)"),
    ] {
        let path = write_with(folder.path(), &[(key, text)], |_| ());
        let options: &[&str] = if key == "heads" { &[] } else { &["--heads", "2"] };
        diagnose(&path, options).refuses(&format!("{key} = {text:?}"));
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
        let option = format!("{option}={number}");
        let heads = if option.starts_with("--heads") { "--causal" } else { "--heads=2" };
        let mut ended = diagnose(&layer, &[heads, &option]);
        ended.error.make_ascii_lowercase();
        ended.refuses("error: ").refuses(number);
    }
    let negative = diagnose(&layer, &["--heads=2", "--scale=-0.5"]);
    assert_ne!(negative.status, Some(2), "{}", negative.error);
}

#[test]
fn more_scores_than_are_computed_are_refused_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let long = Matrix::from_fn(40_000, 4, |i, j| (i + j) as f64);
    let path = write(folder.path(), |tensors| {
        for (nth, name) in [(2, "query"), (3, "output")] {
            tensors[nth] = new(name, &[1, 40_000, 4], &long);
        }
    });
    diagnose(&path, &["--heads", "2"]).refuses("have 3200000000 scores");
}

#[test]
fn a_name_that_no_file_has_is_refused() {
    for name in ["w_q=foo", "=x", "output="] {
        let ended = diagnose(&layer("a01"), &["--name", name]);
        ended.refuses(name).refuses("no tensor");
    }
}

#[test]
fn json_stays_json_beside_an_input_that_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.safetensors");
    let options = ["--json", "--write-input", input.to_str().unwrap()];
    let ended = diagnose(&layer("a08"), &options);
    assert_eq!(ended.with(1).json()["diagnosis"]["verdict"], "mistake");
    assert!(ended.error.contains("Wrote "), "{}", ended.error);
    // Of what exists already it is known before anything is computed.
    let again = diagnose(&layer("a08"), &options);
    assert_eq!(again.refuses("exists already").refuses("--write-input").out, "");
}

#[test]
fn a_verdict_is_the_status_where_nobody_reads_it() {
    for (name, status) in [("r01", 0), ("a01", 1), ("u01", 3)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diagnose"));
        command.arg("diagnose").arg(layer(name)).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{name}");
    }
}

#[test]
fn what_the_metadata_says_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    // What is said on the command line goes before what the file says.
    for (text, options) in [("2", &[][..]), ("two", &["--heads", "2"])] {
        let path = write_with(folder.path(), &[("heads", text)], |_| ());
        diagnose(&path, options).says("2 heads");
    }
}

#[test]
fn one_head_and_numbers_that_are_nan_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let nan = new("output", &[1, 3, 4], &Matrix::from_element(3, 4, f64::NAN));
    let path = write(folder.path(), |tensors| tensors[3] = nan);
    let ended = diagnose(&path, &["--heads", "1"]);
    ended.says("you say: 1 head;").says("infinitely far (12 numbers are NaN");
}

#[test]
fn names_of_ones_own_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), "a03", |header, _| {
        for (name, own) in [
            ("in_proj_weight", "mine.packed.weight"),
            ("in_proj_bias", "mine.packed.bias"),
            ("output", "result"),
        ] {
            header[own] = header[name].take();
        }
        let header = header.as_object_mut().unwrap();
        header.retain(|name, tensor| name != "__metadata__" && !tensor.is_null());
    });
    let names = ["--name", "in_proj=mine.packed.weight", "--name", "output=result"];
    let ended = diagnose(&path, &[&["--heads", "3"], &names[..]].concat());
    ended.with(1).says("A mistake: scaled by sqrt(d_model)");
}

#[test]
fn parameters_may_stand_in_a_file_of_their_own() {
    let both = layer("a01");
    let both = both.to_str().unwrap();
    run(&["--layer", both, "--tensors", both]).with(1);
}

#[test]
fn lines_to_paste_are_printed() {
    for (name, line) in [("torch", "register_forward_hook"), ("jax", "save_file")] {
        run(&["--snippet", name]).with(0).says(line);
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
        assert!(cargo.args(["--", axis]).status().unwrap().success());
        let file = folder.path().join("layer.safetensors");
        let ended = diagnose(&file, &["--heads", "3"]);
        assert_eq!(ended.with(status).out.contains("softmax over queries"), status == 1);
    }
}

/// The layer r01 with the numbers of some tensors changed, each by its place among so many.
fn moved(
    folder: &Path,
    tensors: &[&str],
    change: impl Fn(usize, usize, f32) -> f32,
) -> PathBuf {
    changed(folder, "r01", |header, numbers| {
        for tensor in tensors {
            let offsets = &header[tensor]["data_offsets"];
            let [from, to] = [0, 1].map(|i| offsets[i].as_u64().unwrap() as usize);
            for (i, number) in numbers[from..to].chunks_mut(4).enumerate() {
                let x = f32::from_le_bytes(number.try_into().unwrap());
                let x = change(i, (to - from) / 4, x);
                number.copy_from_slice(&x.to_le_bytes());
            }
        }
    })
}

#[test]
fn what_a_coarser_way_of_computing_explains_is_right_on_that_condition() {
    let folder = tempfile::tempdir().unwrap();
    // As no mistake does.
    let noise = |i, _, x| x + 2e-4 * (i as f32 * 12.9898).sin();
    let moved = moved(folder.path(), &["output"], noise);
    let ended = diagnose(&moved, &[]);
    ended.with(4).says("Right only if your code multiplies in").says("If not, ");
    diagnose(&moved, &["--computed", "bfloat16-products"]).with(0);
}

#[test]
fn a_number_that_is_another_is_told() {
    let folder = tempfile::tempdir().unwrap();
    // W^Q and its bias, a third of these, times 3/4: its output is that of a scale of 4/3.
    let shrunk = |i, n, x| if 3 * i < n { 0.75 * x } else { x };
    let moved = moved(folder.path(), &["in_proj_weight", "in_proj_bias"], shrunk);
    let ended = diagnose(&moved, &[]);
    ended.with(1).says("A number is another: scaled by 0.471").says("; meant was 0.354");
}
