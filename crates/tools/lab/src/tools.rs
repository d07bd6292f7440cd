//! The Rust kernel: evcxr, the program that starts it, and what Jupyter must know of it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde_json::json;

use super::place;
use workshop::step;

/// How a kernel's crates are compiled. `notebooks/evcxr.toml` asks for level 1, as the
/// workspace does, whose products and fast kernels are at level 3. The cells themselves
/// are compiled again and again and hold nothing to optimise.
pub const PROFILE: &str = r#"
[profile.dev.package.ctx]
opt-level = 0

[profile.dev.package."*"]
debug-assertions = false
overflow-checks = false

[profile.dev.package.matrixmultiply]
opt-level = 3
debug-assertions = false
overflow-checks = false

[profile.dev.package.kernels]
opt-level = 3
debug-assertions = false
overflow-checks = false

[profile.dev.package.pulp]
opt-level = 3
debug-assertions = false
overflow-checks = false
"#;

/// Installs evcxr and the kernel "Rust" that runs it.
pub fn install(progress: &ProgressBar) -> Result<()> {
    step::once("evcxr", place::EVCXR, || {
        progress
            .set_message("notebooks: compiling evcxr, the Rust kernel (minutes, once)");
        step::install("evcxr", "evcxr_jupyter", place::EVCXR)
    })?;
    install_launcher()?;
    write_kernel()?;
    write_no_std()?;
    write_jupyter_config()
}

/// Copies this program to where a rebuild of the workspace does not pull it away from
/// under a kernel, under the two names by which [`super::take_over`] knows its part.
fn install_launcher() -> Result<()> {
    let program = std::env::current_exe().context("this program's own file")?;
    let bytes = fs::read(&program).with_context(|| {
        format!("{} is gone: it was compiled anew meanwhile", program.display())
    })?;
    for copy in [place::tool("learn-kernel"), place::tool("analyzer/bin/cargo")] {
        if fs::read(&copy).is_ok_and(|before| before == bytes) {
            continue;
        }
        // Under another name first: a running kernel keeps the file that it has.
        let new = copy.with_extension("new");
        step::create(&new)?;
        fs::copy(&program, &new)
            .and_then(|_| fs::rename(&new, &copy))
            .with_context(|| format!("{} could not be written", copy.display()))?;
    }
    Ok(())
}

fn write_kernel() -> Result<()> {
    let kernel = json!({
        "argv": [place::tool("learn-kernel"), "{connection_file}"],
        "display_name": "Rust",
        "language": "rust",
        "interrupt_mode": "message",
    });
    write_json(&place::state("jupyter/data/kernels/rust/kernel.json"), &kernel)
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
    step::write(&place::state("evcxr/.cargo/config.toml"), PROFILE)
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
    step::write(&path.to_path_buf(), &format!("{value:#}\n"))
}
