//! Programs from crates.io, compiled into `.learn/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::lock::Lock;
use crate::progress::Progress;
use crate::{paths, step};

/// A program that set-up installs; its lock file fixes what it is compiled from.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The package, which is also the program's name.
    pub package: &'static str,
    /// The version that is installed.
    pub version: &'static str,
}

/// How the tools are compiled: quickly. They wait for other programs most of the time,
/// and without optimisation evcxr, the largest, is there after a third of the time.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_STRIP", "symbols"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_INCREMENTAL", "0"),
];

impl Tool {
    /// Where the installed program is.
    pub fn program(&self) -> PathBuf {
        self.program_in(&folder())
    }

    /// Whether this version is installed: the program is there, and cargo's own record
    /// beside it says that it is whole and which one it is.
    pub fn is_installed(&self) -> bool {
        self.is_installed_in(&folder())
    }

    /// Installs the program unless it is there; `progress` says `what` takes the time.
    /// Two processes may ask for the same tool or for two: each tool has its own lock and
    /// its own folder to be compiled in.
    ///
    /// # Errors
    /// The end of cargo's log.
    pub fn install(&self, progress: &Progress, what: &str) -> Result<()> {
        self.install_into(&folder(), "cargo".as_ref(), progress, what)
    }

    fn install_into(
        &self,
        folder: &Path,
        cargo: &Path,
        progress: &Progress,
        what: &str,
    ) -> Result<()> {
        if self.is_installed_in(folder) {
            return Ok(());
        }
        let _lock = Lock::wait(&folder.join(format!("{}.lock", self.package)), || {
            progress.set_message(format!("{what}: another command is at it"));
        })?;
        // The one that was waited for has done it.
        if self.is_installed_in(folder) {
            return Ok(());
        }
        progress.set_message(what);
        // Not into the workspace's target, where it would rebuild what is shared.
        let target = folder.join("target").join(self.package);
        let mut install = Command::new(cargo);
        install
            // `--force`: cargo may believe that a program is there that was deleted.
            .args(["install", "--locked", "--force", "--version", self.version])
            .arg("--root")
            .arg(folder)
            .arg(self.package)
            .env("CARGO_TARGET_DIR", &target)
            .envs(PROFILE)
            .env_remove("RUSTFLAGS");
        step::run(self.package, &mut install)?;
        // Up to 1.5 GB that nothing needs again; after a failure it stays, so that the
        // next attempt goes on where this one stopped.
        let _ = fs::remove_dir_all(target);
        let Self { package, version } = self;
        ensure!(
            self.is_installed_in(folder),
            "{package} {version} is not in {} although cargo installed it",
            folder.display()
        );
        Ok(())
    }

    fn program_in(&self, folder: &Path) -> PathBuf {
        let name = folder.join("bin").join(self.package);
        name.with_extension(std::env::consts::EXE_EXTENSION)
    }

    fn is_installed_in(&self, folder: &Path) -> bool {
        let record = fs::read_to_string(folder.join(".crates.toml")).unwrap_or_default();
        let entry = format!("\"{} {} (", self.package, self.version);
        self.program_in(folder).is_file()
            && record.lines().any(|line| line.starts_with(&entry))
    }
}

fn folder() -> PathBuf {
    paths::state().join("tools")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::progress;

    use super::*;

    const TOOL: Tool = Tool { package: "workshop-test-tool", version: "1.2.3" };

    /// A cargo that installs an empty program, slowly, and writes down that it was asked.
    fn cargo(folder: &Path) -> PathBuf {
        let cargo = folder.join("cargo");
        let script = "#!/bin/sh\n\
            for root; do [ \"$last\" = --root ] && break; last=$root; done\n\
            for package; do :; done\n\
            echo $package >> $root/asked\n\
            mkdir -p $CARGO_TARGET_DIR $root/bin && touch $CARGO_TARGET_DIR/object\n\
            sleep 0.3\n\
            [ -e $CARGO_TARGET_DIR/object ] || exit 1\n\
            touch $root/bin/$package\n\
            echo \"\\\"$package 1.2.3 (registry)\\\" = []\" >> $root/.crates.toml\n";
        fs::write(&cargo, script).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        cargo
    }

    #[test]
    fn at_once_each_tool_is_compiled_once_and_undisturbed() {
        let folder = tempfile::tempdir().unwrap();
        let cargo = cargo(folder.path());
        let other = Tool { package: "workshop-test-other", ..TOOL };
        let failed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for tool in [TOOL, other, TOOL, other] {
                let (folder, cargo, failed) = (folder.path(), &cargo, &failed);
                scope.spawn(move || {
                    let bar = progress::spinner("test");
                    if tool.install_into(folder, cargo, &bar, "test").is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(failed.into_inner(), 0);
        let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
        assert_eq!(asked.lines().count(), 2, "{asked}");
        assert!(TOOL.is_installed_in(folder.path()));
    }

    #[test]
    fn a_tool_whose_program_is_gone_or_older_is_not_installed() {
        let folder = tempfile::tempdir().unwrap();
        let cargo = cargo(folder.path());
        let bar = progress::spinner("test");
        TOOL.install_into(folder.path(), &cargo, &bar, "test").unwrap();
        let newer = Tool { version: "1.2.30", ..TOOL };
        assert!(!newer.is_installed_in(folder.path()));
        fs::remove_file(TOOL.program_in(folder.path())).unwrap();
        assert!(!TOOL.is_installed_in(folder.path()));
    }
}
