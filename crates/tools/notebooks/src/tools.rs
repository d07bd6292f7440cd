//! The Rust kernel: evcxr, the program that starts it, and what Jupyter must know of it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::place;
use workshop::progress::Progress;
use workshop::step;

/// How a kernel's crates are compiled: ours as in the workspace, what they stand on
/// quickly, and without the checks of debugging. The cells themselves are compiled again
/// and again and hold nothing to optimise.
pub fn profile() -> String {
    let mut profile = String::from("[profile.dev.package.ctx]\nopt-level = 0\n");
    let ours = OURS.map(|name| (name, 1));
    for (package, level) in [("\"*\"", 0)].into_iter().chain(ours).chain(FAST) {
        profile += &format!(
            "\n[profile.dev.package.{package}]\nopt-level = {level}\n\
             debug-assertions = false\noverflow-checks = false\n"
        );
    }
    profile
}

/// The crates whose loops a notebook runs. `figures` draws a few numbers, and with optimisation
/// it would take five times as long to compile.
pub const OURS: [&str; 11] = [
    "attention",
    "single-head",
    "per-head",
    "fused-heads",
    "variants",
    "gradients",
    "block",
    "tensors",
    "model-files",
    "models",
    "distributed",
];

/// Products of matrices, kernels, and a thousand steps of training: each is several times
/// slower without optimisation.
pub const FAST: [(&str, u8); 10] = [
    ("matrixmultiply", 3),
    ("tiles", 3),
    ("cached", 3),
    ("kernels", 3),
    ("runs", 3),
    ("pulp", 3),
    ("sensors", 3),
    ("ablation", 3),
    ("training", 3),
    ("gpt", 3),
];

/// The oldest Rust that compiles this evcxr.
const OLDEST_RUST: (u32, u32) = (1, 95);

/// Compiles evcxr where it is missing. True if it was.
pub fn install(progress: &Progress) -> Result<bool> {
    if place::EVCXR.is_installed() {
        return Ok(false);
    }
    let output = Command::new("rustc").arg("--version").output().context("rustc")?;
    new_enough(&String::from_utf8_lossy(&output.stdout))?;
    let what = "notebooks: compiling evcxr, the Rust kernel (2 to 5 minutes, once)";
    place::EVCXR.install(progress, what)?;
    Ok(true)
}

fn new_enough(rustc: &str) -> Result<()> {
    let words: Vec<&str> = rustc.split([' ', '.']).collect();
    let [_, major, minor, ..] = words[..] else { return Ok(()) };
    let (Ok(major), Ok(minor)) = (major.parse(), minor.parse()) else { return Ok(()) };
    let ((oldest_major, oldest_minor), found) = (OLDEST_RUST, (major, minor));
    ensure!(
        found >= OLDEST_RUST,
        "the notebooks' kernel needs Rust {oldest_major}.{oldest_minor} or newer; here is \
         {major}.{minor}. Get a newer one (`rustup update`), then run `cargo learn` again."
    );
    Ok(())
}

/// Writes what the kernel "Rust" consists of beside evcxr, and what Jupyter must know.
pub fn configure() -> Result<()> {
    install_programs()?;
    write_kernel()?;
    write_no_std()?;
    write_jupyter_config()
}

/// Copies the kernel's two small programs to where a rebuild of the workspace does not
/// pull them away from under a kernel. Cargo compiles them with this program, beside it.
fn install_programs() -> Result<()> {
    let this = std::env::current_exe().context("this program's own file")?;
    let folder = this.parent().context("a program lies in a folder")?;
    for (program, copy) in
        [("learn-kernel", "learn-kernel"), ("kernel-cargo", "analyzer/bin/cargo")]
    {
        let program =
            folder.join(program).with_extension(std::env::consts::EXE_EXTENSION);
        step::copy(&program, &place::tool(copy))
            .context("`cargo build -p notebooks` compiles the kernel's programs")?;
    }
    Ok(())
}

/// Where every Jupyter of this environment finds it: ours, `.learn/venv/bin/jupyter`
/// started by hand, and VS Code's.
fn write_kernel() -> Result<()> {
    let spec = kernel_spec(std::env::var("RUSTUP_HOME").ok().as_deref())?;
    write_json(&place::state("venv/share/jupyter/kernels/rust/kernel.json"), &spec)
}

/// The kernel as Jupyter knows it. Whatever starts it, it finds the cargo and the crates
/// that set-up worked with.
fn kernel_spec(rustup_home: Option<&str>) -> Result<serde_json::Value> {
    let mut env = json!({
        place::CARGO_FOLDER: place::cargo_folder()?,
        "CARGO_HOME": place::cargo_home(),
    });
    if let Some(home) = rustup_home {
        env["RUSTUP_HOME"] = home.into();
    }
    Ok(json!({
        "argv": [place::tool("learn-kernel"), "{connection_file}"],
        "display_name": "Rust",
        "language": "rust",
        "interrupt_mode": "message",
        "env": env,
    }))
}

/// A standard library of empty crates, for the type engine only.
///
/// It must find one, or it has rustup install the sources of the real one, without
/// asking; and the real one takes it 6 of the 12 seconds that a first figure may take.
fn write_no_std() -> Result<()> {
    for name in ["core", "alloc", "std"] {
        let path = place::state(&format!("evcxr/no-std/{name}/src/lib.rs"));
        step::write(&path, "//! Empty: see `write_no_std`.\n")?;
    }
    step::write(&place::state("evcxr/.cargo/config.toml"), profile())
}

/// JupyterLab asks no other host (for news, for new versions, for extensions), offers no
/// kernel but ours, and leaves the browser to us.
fn write_jupyter_config() -> Result<()> {
    let config = json!({
        "ServerApp": { "open_browser": false },
        "MultiKernelManager": { "default_kernel_name": "rust" },
        "MappingKernelManager": { "default_kernel_name": "rust" },
        // A kernel that is asked to go takes its time; nothing in it needs saving.
        "KernelManager": { "shutdown_wait_time": 0.5 },
        "KernelSpecManager": {
            "ensure_native_kernel": false,
            "allowed_kernelspecs": ["rust"],
        },
        "LabApp": {
            "news_url": null,
            "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "extension_manager": "readonly",
        },
    });
    write_json(&place::state("jupyter/config/jupyter_server_config.json"), &config)?;
    let page = json!({ "disabledExtensions": {
        "@jupyterlab/apputils-extension:announcements": true,
        "@jupyterlab/extensionmanager-extension": true,
    }});
    write_json(&place::state("jupyter/config/labconfig/page_config.json"), &page)
}

fn write_json(path: &Path, value: &serde_json::Value) -> Result<()> {
    step::write(path, format!("{value:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rust_that_cannot_compile_evcxr_is_refused_before_it_tries() {
        let refused = new_enough("rustc 1.91.0 (f8297e351 2025-10-28)").unwrap_err();
        assert!(refused.to_string().contains("1.95 or newer; here is 1.91"), "{refused}");
        assert!(new_enough("rustc 1.95.0 (f2d3ce0bd 2026-03-21)").is_ok());
        assert!(new_enough("rustc 1.100.0-nightly").is_ok());
    }

    #[test]
    fn the_kernel_needs_nothing_of_what_starts_it() {
        let spec = kernel_spec(Some("/rustup")).unwrap();
        assert!(Path::new(spec["argv"][0].as_str().unwrap()).is_absolute());
        for (name, value) in spec["env"].as_object().unwrap() {
            // `${NAME}` is filled in by some who start kernels, and not by others.
            assert!(Path::new(value.as_str().unwrap()).is_absolute(), "{name}: {value}");
        }
    }
}
