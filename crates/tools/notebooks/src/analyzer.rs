//! The cargo that a kernel's type engine sees.
//!
//! evcxr's type engine is rust-analyzer. It asks `cargo metadata` for the crates that a
//! notebook depends on and reads all of their sources: for a notebook with a figure 47
//! megabytes, half of them four versions of glam that nothing uses, which takes ten
//! seconds at the first `:dep` and as long again at the first `let`. Yet it is asked one
//! question only, the type of a variable, and not even that where the type is written.
//!
//! So it gets a shorter answer: the crates of this workspace, and no crate from the
//! registry; and of these crates the declarations only ([`outline`]). The compiler, which
//! is what decides, sees everything.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{outline, place};

/// Does what cargo does with these arguments, but shortens its metadata.
pub fn run(args: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let args: Vec<OsString> = args.collect();
    // By its place: Windows looks beside this program first, which has the name of cargo.
    let mut cargo = Command::new(place::cargo_folder()?.join("cargo"));
    cargo.args(&args);
    if let Some(home) = std::env::var_os(place::REAL_CARGO_HOME) {
        cargo.env("CARGO_HOME", home);
    }
    let has = |word: &str| args.iter().any(|arg| arg == word);
    if !has("metadata") || has("--no-deps") {
        let status = cargo.status().context("cargo could not be started")?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }

    // The engine asks after each change of dependencies and before the build: the moment
    // at which the versions must be the workspace's.
    let manifest = args.iter().skip_while(|arg| *arg != "--manifest-path").nth(1);
    if let Some(manifest) = manifest {
        place::seed(folder_of(Path::new(manifest))?)?;
    }
    let output = cargo.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut metadata = serde_json::from_slice(&output.stdout)?;
    keep_local(&mut metadata);
    show_outlines(&mut metadata, &place::state("evcxr/outlines"))?;
    println!("{metadata}");
    Ok(ExitCode::SUCCESS)
}

fn folder_of(manifest: &Path) -> Result<&Path> {
    manifest.parent().context("a manifest has a folder")
}

/// Removes the packages that come from a registry, and each mention of them.
fn keep_local(metadata: &mut Value) {
    let Some(packages) = metadata["packages"].as_array_mut() else { return };
    packages.retain(|package| package["source"].is_null());
    let local: HashSet<Value> =
        packages.iter().map(|package| package["id"].clone()).collect();

    let Some(nodes) = metadata["resolve"]["nodes"].as_array_mut() else { return };
    nodes.retain(|node| local.contains(&node["id"]));
    for node in nodes {
        if let Some(names) = node["dependencies"].as_array_mut() {
            names.retain(|id| local.contains(id));
        }
        if let Some(edges) = node["deps"].as_array_mut() {
            edges.retain(|edge| local.contains(&edge["pkg"]));
        }
    }
}

/// Leads from each library to its outline. The cells' own crate is not a `lib`: it stays.
fn show_outlines(metadata: &mut Value, outlines: &Path) -> Result<()> {
    for package in metadata["packages"].as_array_mut().into_iter().flatten() {
        let manifest =
            package["manifest_path"].as_str().context("a manifest")?.to_owned();
        let name = package["name"].as_str().context("a name")?;
        let (from, to) = (folder_of(Path::new(&manifest))?, outlines.join(name));
        let targets = package["targets"].as_array().context("targets")?;
        let is_lib = |target: &&Value| target["kind"] == json!(["lib"]);
        let Some(mut lib) = targets.iter().find(is_lib).cloned() else { continue };
        let root = Path::new(lib["src_path"].as_str().context("a file")?);
        let inside = root.strip_prefix(from).context("a library lies in its package")?;
        let sources = inside.parent().context("a file lies in a folder")?;
        outline::copy(&from.join(sources), &to.join(sources))?;
        lib["src_path"] = json!(to.join(inside));
        package["targets"] = json!([lib]);
        package["manifest_path"] = json!(to.join("Cargo.toml"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    const TEST: &str = "analyzer::tests::it_runs_the_cargo_of_the_path_and_not_itself";

    /// What this program plays when it has the name of cargo.
    fn play(folder: &Path) {
        if folder.ends_with("real") {
            println!("the real one");
        } else {
            // Once: one that starts itself would do so without end.
            fs::File::create_new(folder.join("started")).unwrap();
            run(["--exact", TEST, "--nocapture"].map(OsString::from).into_iter())
                .unwrap();
        }
    }

    /// Windows looks for a program beside the one that asks, before it goes to the `PATH`.
    #[test]
    fn it_runs_the_cargo_of_the_path_and_not_itself() {
        let this = env::current_exe().unwrap();
        if this.file_stem().is_some_and(|name| name == "cargo") {
            return play(this.parent().unwrap());
        }
        let folder = tempfile::tempdir_in(this.parent().unwrap()).unwrap();
        let [ours, real] = ["ours", "real"].map(|name| {
            let folder = folder.path().join(name);
            fs::create_dir(&folder).unwrap();
            let cargo = folder.join("cargo").with_extension(env::consts::EXE_EXTENSION);
            fs::hard_link(&this, &cargo).unwrap();
            cargo
        });
        let mut cargo = Command::new(ours);
        cargo.args(["--exact", TEST, "--nocapture"]).env("PATH", real.parent().unwrap());
        let output = cargo.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches("the real one").count(), 1, "{said}");
    }

    #[test]
    fn registry_packages_leave_no_trace() {
        let mut metadata = json!({
            "packages": [
                { "id": "ctx", "source": null },
                { "id": "attention", "source": null },
                { "id": "nalgebra", "source": "registry+https://example" },
            ],
            "resolve": { "nodes": [
                { "id": "ctx", "dependencies": ["attention"],
                  "deps": [{ "pkg": "attention" }] },
                { "id": "attention", "dependencies": ["nalgebra"],
                  "deps": [{ "pkg": "nalgebra" }] },
                { "id": "nalgebra", "dependencies": [], "deps": [] },
            ]},
        });
        keep_local(&mut metadata);
        assert!(!metadata.to_string().contains("nalgebra"), "{metadata:#}");
        assert_eq!(metadata["resolve"]["nodes"][0]["deps"][0]["pkg"], "attention");
    }

    #[test]
    fn a_library_is_seen_as_its_outline_and_the_cells_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (from, outlines) = (folder.path().join("a"), folder.path().join("outlines"));
        workshop::step::write(&from.join("src/lib.rs"), "pub fn f() { g() }").unwrap();
        let package = |kind: &str| {
            json!({
                "name": kind,
                "manifest_path": from.join("Cargo.toml"),
                "targets": [
                    { "kind": [kind], "src_path": from.join("src/lib.rs") },
                    { "kind": ["test"], "src_path": from.join("tests/a.rs") },
                ],
            })
        };
        let mut metadata = json!({ "packages": [package("lib"), package("cdylib")] });
        show_outlines(&mut metadata, &outlines).unwrap();
        let root = outlines.join("lib").join("src/lib.rs");
        assert!(!std::fs::read_to_string(&root).unwrap().contains('g'));
        assert_eq!(
            metadata["packages"],
            json!([
                {
                    "name": "lib",
                    "manifest_path": outlines.join("lib").join("Cargo.toml"),
                    "targets": [{ "kind": ["lib"], "src_path": root }],
                },
                package("cdylib"),
            ])
        );
    }
}
