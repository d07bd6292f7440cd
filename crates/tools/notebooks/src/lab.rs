//! JupyterLab on 127.0.0.1, at an address that stays the same.
//!
//! The token that opens it is kept, so that an open browser tab goes on working, and it
//! allows to run code. So it is sent to our own JupyterLab and to nothing else that may
//! listen where that once did. Two things say who is ours, and neither can be left over
//! from an earlier run: a lock, held by the process that JupyterLab ends with, and the file
//! that JupyterLab writes of itself once it listens, which the lock's holder removes before.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use super::place;
use workshop::group::{self, Group};
use workshop::lock::Lock;
use workshop::step;

/// JupyterLab takes the next one if another program has it.
const PORT: u16 = 8888;
const STARTS_WITHIN: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// A running JupyterLab. Dropped, it is stopped, and its kernels with it, unless it was
/// there before.
pub struct Lab {
    port: u16,
    token: String,
    /// Where its lock and the files of itself are.
    folder: PathBuf,
    started: Option<Started>,
}

/// What this process has started, and holds.
struct Started {
    child: Child,
    group: Group,
    /// Given back after JupyterLab is gone.
    _lock: Lock,
}

impl Lab {
    /// Starts JupyterLab and waits until it answers. One that another `cargo learn` of
    /// this workspace has started and that still runs is used instead.
    ///
    /// # Errors
    /// The end of its log if it does not come up.
    pub fn start() -> Result<Self> {
        let mut command = place::python();
        command
            .args(["-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"])
            .arg(format!("--port={PORT}"))
            // Refused to root without it, which is what containers are.
            .arg("--allow-root")
            .arg(format!("--ServerApp.root_dir={}", place::notebooks().display()))
            .current_dir(place::notebooks());
        let lab = Self::start_as(command, &place::state("jupyter"), STARTS_WITHIN)?;
        workshop::lab::keep(lab.port).context("the lab's port could not be kept")?;
        Ok(lab)
    }

    /// Starts `command`, whose lock, token, log and runtime files are in `folder`.
    fn start_as(mut command: Command, folder: &Path, within: Duration) -> Result<Self> {
        let token = token(folder)?;
        let deadline = Instant::now() + within;
        let lock = loop {
            if let Some(lock) = Lock::try_now(&lock_file(folder))? {
                break lock;
            }
            // Another one is there, or about to be.
            if let Some(port) = port(folder)
                && answers(port, &token)
            {
                return Ok(Self {
                    port,
                    token,
                    folder: folder.to_owned(),
                    started: None,
                });
            }
            if Instant::now() > deadline {
                bail!("{}", did_not_start("another command's JupyterLab", folder));
            }
            thread::sleep(PAUSE);
        };
        forget_servers(folder)?;

        let output = step::create(&log(folder))?;
        command
            .env("JUPYTER_TOKEN", &token)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        // Ctrl-C is for us; we then stop the Lab in order, which asks nothing.
        let (child, group) =
            group::spawn(&mut command).context("JupyterLab could not be started")?;
        let started = Some(Started { child, group, _lock: lock });
        let mut lab = Self { port: 0, token, folder: folder.to_owned(), started };
        lab.wait_until_it_answers(deadline)?;
        Ok(lab)
    }

    /// The address of the first notebook with the token, for a browser.
    pub fn url(&self) -> String {
        let entries = place::notebooks().read_dir().into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let first = names.filter(|name| name.ends_with(".ipynb")).min();
        let opened = first.map_or(String::new(), |name| format!("/tree/{name}"));
        format!("http://127.0.0.1:{}/lab{opened}?token={}", self.port, self.token)
    }

    /// Shows it in the browser.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(&self) -> Result<()> {
        let opened = open::that_detached(self.url());
        opened
            .map_err(|_| anyhow!("no browser could be opened; open the address yourself"))
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        match &mut self.started {
            Some(started) => matches!(started.child.try_wait(), Ok(None)),
            None => {
                matches!(Lock::try_now(&lock_file(&self.folder)), Ok(None))
            }
        }
    }

    /// Ends JupyterLab and its kernels, if it is ours.
    fn stop(&mut self) {
        let Some(started) = self.started.take() else { return };
        let Started { mut child, group, _lock } = started;
        // A port means that it was there and listened; one that never did is not asked.
        let asked = matches!(child.try_wait(), Ok(None))
            && self.port != 0
            && request("POST", "/api/shutdown", self.port, &self.token).is_ok();
        let deadline = Instant::now() + Duration::from_secs(10);
        while asked && Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(PAUSE);
        }
        drop(group);
        let _ = child.wait();
    }

    fn wait_until_it_answers(&mut self, deadline: Instant) -> Result<()> {
        loop {
            if !self.is_running() {
                bail!("{}", did_not_start("JupyterLab", &self.folder));
            }
            if let Some(port) = port(&self.folder)
                && answers(port, &self.token)
            {
                self.port = port;
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{}", did_not_start("JupyterLab", &self.folder));
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop();
    }
}

fn did_not_start(who: &str, folder: &Path) -> String {
    let log = log(folder);
    format!("{who} did not start; the end of {}:\n{}", log.display(), step::tail(&log))
}

fn log(folder: &Path) -> PathBuf {
    folder.join("lab.log")
}

fn lock_file(folder: &Path) -> PathBuf {
    folder.join("lab.lock")
}

/// The port on which a server says that it listens, where it is the only one. Its process
/// says nothing: in an environment on Windows, Python is a child of what was started.
fn port(folder: &Path) -> Option<u16> {
    let servers = servers(folder);
    let [server] = &servers[..] else { return None };
    let text = fs::read_to_string(server).ok()?;
    let server: Value = serde_json::from_str(&text).ok()?;
    server["port"].as_u64()?.try_into().ok()
}

/// The files that servers write of themselves once they listen, and remove when they end.
fn servers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("runtime")).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("jpserver-") && name.ends_with(".json")
        })
        .collect()
}

/// Removes the files of servers that were killed; the holder of the lock knows that none
/// lives.
fn forget_servers(folder: &Path) -> Result<()> {
    for server in servers(folder) {
        fs::remove_file(&server)
            .with_context(|| format!("{} could not be removed", server.display()))?;
    }
    Ok(())
}

/// Kept between runs, so that an open browser tab goes on working.
fn token(folder: &Path) -> Result<String> {
    let path = folder.join("token");
    if let Ok(token) = fs::read_to_string(&path)
        && token.len() >= 32
    {
        return Ok(token);
    }
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut file = step::create(&path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

fn answers(port: u16, token: &str) -> bool {
    request("GET", "/api/status", port, token).is_ok_and(|answer| {
        answer.lines().next().is_some_and(|line| line.contains(" 200 "))
    })
}

/// A request to the Lab, without the need of a client: the whole answer as text.
fn request(method: &str, path: &str, port: u16, token: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Authorization: token {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::soon;

    fn shell(script: &str, folder: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder);
        command
    }

    /// Says of a process that it is a server on this port, as JupyterLab does of itself.
    fn write_server(folder: &Path, process: u32, port: u16) {
        let file = folder.join(format!("runtime/jpserver-{process}.json"));
        let server = serde_json::json!({ "pid": process, "port": port });
        step::write(&file, server.to_string()).unwrap();
    }

    #[test]
    fn the_token_is_long_kept_and_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let first = token(folder.path()).unwrap();
        assert_eq!(first.len(), 48);
        assert_eq!(token(folder.path()).unwrap(), first);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(token(other.path()).unwrap(), first);
        let mode = fs::metadata(folder.path().join("token")).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }

    #[test]
    fn a_stranger_where_a_killed_jupyterlab_listened_is_sent_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        stranger.set_nonblocking(true).unwrap();
        // Left over, with the number of a process that lives.
        let port = stranger.local_addr().unwrap().port();
        write_server(folder.path(), std::process::id(), port);
        // A new one that does not come to listen.
        let command = shell("sleep 60", folder.path());
        let start = Lab::start_as(command, folder.path(), Duration::from_millis(300));
        assert!(start.is_err());
        assert!(stranger.accept().is_err(), "the stranger was asked");
    }

    #[test]
    fn one_that_hangs_is_ended_and_its_log_shown() {
        let folder = tempfile::tempdir().unwrap();
        let command = shell("echo no module named lab; exec sleep 60", folder.path());
        let within = Duration::from_secs(2);
        let error = Lab::start_as(command, folder.path(), within).err().unwrap();
        assert!(error.to_string().contains("no module named lab"), "{error}");
        // Ended: its lock is free.
        assert!(soon(|| Lock::try_now(&lock_file(folder.path())).unwrap().is_some()));
    }

    #[test]
    fn one_that_runs_is_used_by_the_next_and_left_to_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            }
        });
        // The shell writes of itself what JupyterLab would.
        let script = format!(
            "mkdir -p runtime; \
             echo \"{{\\\"pid\\\":$$,\\\"port\\\":{port}}}\" > runtime/jpserver-$$.json; \
             exec sleep 60"
        );
        let start = || {
            let command = shell(&script, folder.path());
            Lab::start_as(command, folder.path(), Duration::from_secs(10)).unwrap()
        };
        let mut first = start();
        let mut second = start();
        assert!(second.started.is_none());
        assert_eq!(second.url(), first.url());
        assert!(second.is_running() && first.is_running());
        first.port = 0; // This one does not understand to be asked to end.
        first.stop();
        assert!(soon(|| !second.is_running()));
    }
}
