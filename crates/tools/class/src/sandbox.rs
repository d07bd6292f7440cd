//! Where submissions are compiled and run: a program sees what it needs, and has an end.
//!
//! [`Sandbox::found`] tries what this machine has: bubblewrap and `prlimit` together, `prlimit`
//! alone, or neither. A path is the same inside and outside, so that a program is started in
//! the same way in each.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What keeps a submission apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sandbox {
    /// Namespaces of its own, and limits. As root, the program gets another user, since the
    /// number of root's processes has no limit.
    Bubblewrap { bwrap: PathBuf, prlimit: PathBuf, setpriv: Option<PathBuf> },
    /// Limits alone.
    Limits { prlimit: PathBuf },
    /// The limit of time that every check has.
    Time,
}

/// What a program finds in its sandbox, and what it may take.
#[derive(Debug, Default)]
pub struct Room {
    /// Files and folders to read.
    pub readable: Vec<PathBuf>,
    /// A folder to write to.
    pub writable: Option<PathBuf>,
    /// Where it is started.
    pub folder: PathBuf,
    /// Variables.
    pub variables: Vec<(&'static str, String)>,
    /// Bytes of memory for each of its processes.
    pub memory: u64,
    /// Seconds of a processor for each.
    pub seconds: u64,
    /// How many there may be.
    pub n_processes: u64,
    /// Bytes of a file.
    pub file: u64,
}

/// What every program needs, wherever it comes from.
const LIBRARIES: [&str; 6] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/nix/store"];

/// Bytes of the folder for what is temporary, which is in memory.
const TEMPORARY: &str = "268435456";

/// Numbers of users that no system gives to anybody for long.
const NOBODIES: Range<u32> = 61184..65520;

/// A user that is nobody, and another for each program: processes are counted by user.
fn nobody() -> String {
    static N_USERS: AtomicU32 = AtomicU32::new(0);
    let n = N_USERS.fetch_add(1, Ordering::Relaxed);
    let nth = std::process::id().wrapping_mul(64).wrapping_add(n);
    (NOBODIES.start + nth % NOBODIES.len() as u32).to_string()
}

impl Sandbox {
    /// The best that works on this machine.
    pub fn found() -> Self {
        let Some(prlimit) = on_path("prlimit") else { return Self::Time };
        let setpriv = is_root().then(|| on_path("setpriv")).flatten();
        let limits = Self::Limits { prlimit: prlimit.clone() };
        let Some(bwrap) = on_path("bwrap") else { return limits };
        let bubblewrap = Self::Bubblewrap { bwrap, prlimit: prlimit.clone(), setpriv };
        let room = Room {
            seconds: 5,
            memory: 1 << 30,
            file: 1,
            n_processes: 8,
            ..Room::default()
        };
        let mut command = bubblewrap.command(&room, &prlimit, &["--version".into()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let works = command.status().is_ok_and(|status| status.success());
        if works { bubblewrap } else { limits }
    }

    /// Its name for what is kept of a run.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bubblewrap { .. } => "bubblewrap",
            Self::Limits { .. } => "limits",
            Self::Time => "time",
        }
    }

    /// What it is and what it leaves open, in a sentence.
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Bubblewrap { setpriv: None, .. } if is_root() => {
                "Sandbox: bubblewrap with limits by prlimit; as root and without setpriv the \
                 number of processes has no limit."
            }
            Self::Bubblewrap { .. } => {
                "Sandbox: bubblewrap with limits by prlimit (no network, none of your files); \
                 left open: several processes of one program may share more memory than one \
                 may have, and a fault of the system's kernel."
            }
            Self::Limits { .. } => {
                "Sandbox: prlimit alone, since bubblewrap is not there or may not be used: \
                 memory, time and file sizes are limited, but a program can read and change \
                 your files, use the network, and start processes that outlive it."
            }
            Self::Time => {
                "Sandbox: none, since there is neither bubblewrap nor prlimit: a program is \
                 stopped after some time, and can do until then whatever you can."
            }
        }
    }

    /// A program with its arguments, in the sandbox.
    pub fn command(&self, room: &Room, program: &Path, args: &[OsString]) -> Command {
        let mut line: Vec<OsString> = Vec::new();
        if let Self::Bubblewrap { bwrap, prlimit, setpriv } = self {
            line.push(bwrap.into());
            let programs = [Some(prlimit), setpriv.as_ref()].into_iter().flatten();
            line.extend(walls(room, programs, setpriv.is_some()));
            line.push("--".into());
            if let Some(setpriv) = setpriv {
                line.push(setpriv.into());
                let user = nobody();
                line.extend(["--reuid", &user, "--regid", &user].map(OsString::from));
                let none = ["--clear-groups", "--bounding-set=-all", "--inh-caps=-all"];
                line.extend(none.map(OsString::from));
            }
        }
        if let Self::Bubblewrap { prlimit, .. } | Self::Limits { prlimit } = self {
            line.push(prlimit.into());
            let Room { memory, seconds, file, .. } = room;
            line.extend(
                [format!("--as={memory}"), format!("--cpu={seconds}")].map(Into::into),
            );
            line.extend(
                [format!("--fsize={file}"), "--core=0".into()].map(OsString::from),
            );
            // Without a sandbox, all other processes of the same user would count.
            if matches!(self, Self::Bubblewrap { .. }) {
                line.push(format!("--nproc={}", room.n_processes).into());
            }
        }
        line.push(program.into());
        line.extend_from_slice(args);
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]);
        if cfg!(unix) {
            command.env_clear();
        }
        command.envs(room.variables.iter().map(|(name, value)| (name, value)));
        if !matches!(self, Self::Bubblewrap { .. }) && !room.folder.as_os_str().is_empty()
        {
            command.current_dir(&room.folder);
        }
        command
    }
}

/// The arguments of bubblewrap. A path that is not there is left out.
fn walls<'a>(
    room: &'a Room,
    programs: impl Iterator<Item = &'a PathBuf>,
    gives_user: bool,
) -> Vec<OsString> {
    let mut walls: Vec<OsString> = Vec::new();
    let mut add = |args: &[&str]| walls.extend(args.iter().map(OsString::from));
    match gives_user {
        // In a namespace of users, root's processes would still be root's.
        true => add(&[
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--cap-add",
            "CAP_SETUID",
            "--cap-add",
            "CAP_SETGID",
            "--cap-add",
            "CAP_SETPCAP",
        ]),
        false => add(&["--unshare-all"]),
    }
    add(&["--die-with-parent", "--new-session", "--clearenv", "--proc", "/proc"]);
    add(&["--dev-bind-try", "/dev/null", "/dev/null"]);
    add(&["--size", TEMPORARY, "--perms", "1777", "--tmpfs", "/tmp"]);
    for (name, value) in &room.variables {
        add(&["--setenv", name, value]);
    }
    let libraries = LIBRARIES.iter().map(Path::new);
    let readable = libraries.chain(programs.chain(&room.readable).map(PathBuf::as_path));
    let readable = readable.map(|path| ("--ro-bind-try", path));
    let writable = room.writable.iter().map(|path| ("--bind", path.as_path()));
    for (bind, path) in readable.chain(writable) {
        // What bubblewrap makes on the way there, another user could not enter.
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev().skip(1) {
            walls.extend(["--perms", "0755", "--dir"].map(OsString::from));
            walls.push(folder.into());
        }
        walls.extend([bind.into(), path.into(), path.into()]);
    }
    walls.extend(["--remount-ro", "/"].map(OsString::from));
    if !room.folder.as_os_str().is_empty() {
        walls.extend(["--chdir".into(), (&room.folder).into()]);
    }
    walls
}

/// Where a program is, by the path of this process.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let files = env::split_paths(&path).map(|folder| folder.join(name));
    files.filter(|file| file.is_file()).find_map(|file| fs::canonicalize(file).ok())
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
