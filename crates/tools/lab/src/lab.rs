//! JupyterLab on 127.0.0.1, at an address that stays the same.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::place;
use workshop::step;

const PORT: u16 = 8888;
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// A running JupyterLab. Dropped, it is stopped, and its kernels with it, unless it was
/// there before.
pub struct Lab {
    port: u16,
    token: String,
    child: Option<Child>,
}

impl Lab {
    /// Starts JupyterLab and waits until it answers. One that another `cargo learn` of
    /// this workspace has started and that still runs is used instead.
    ///
    /// # Errors
    /// The end of its log if it does not come up.
    pub fn start() -> Result<Self> {
        let token = token()?;
        if let Some(port) = running(&token) {
            return Ok(Self { port, token, child: None });
        }
        let port = free_port()?;
        let log = log();
        let output = step::create(&log)?;
        let mut command = place::python();
        command
            .args(["-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"])
            .args([format!("--port={port}"), "--ServerApp.port_retries=0".to_owned()])
            // Refused to root without it, which is what containers are.
            .arg("--allow-root")
            .arg(format!("--ServerApp.root_dir={}", place::notebooks().display()))
            .env("JUPYTER_TOKEN", &token)
            .current_dir(place::notebooks())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        // Ctrl-C is for us; we then stop the Lab in order, which asks nothing.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().context("JupyterLab could not be started")?;
        let mut lab = Self { port, token, child: Some(child) };
        lab.wait_until_it_answers()?;
        step::write(&place::state("jupyter/port"), &port.to_string())?;
        Ok(lab)
    }

    /// The address with the token, for a browser.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/lab?token={}", self.port, self.token)
    }

    /// Waits until JupyterLab ends by itself: stopped from its own menu, say.
    pub fn wait(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        match &mut self.child {
            Some(child) => matches!(child.try_wait(), Ok(None)),
            None => answers(self.port, &self.token),
        }
    }

    /// Ends JupyterLab and its kernels, if it is ours.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let _ = request("POST", "/api/shutdown", self.port, &self.token);
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    fn wait_until_it_answers(&mut self) -> Result<()> {
        let deadline = Instant::now() + STARTS_WITHIN;
        while !answers(self.port, &self.token) {
            if !self.is_running() || Instant::now() > deadline {
                let log = log();
                bail!(
                    "JupyterLab did not start; {}:\n{}",
                    log.display(),
                    step::tail(&log)
                );
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop();
    }
}

fn log() -> PathBuf {
    place::state("jupyter/lab.log")
}

/// Kept between runs, so that an open browser tab goes on working.
fn token() -> Result<String> {
    let path = place::state("jupyter/token");
    if let Ok(token) = fs::read_to_string(&path)
        && token.len() >= 32
    {
        return Ok(token);
    }
    // A hash map's keys come from the system's random numbers.
    let random = || RandomState::new().build_hasher().finish();
    let token = format!("{:016x}{:016x}", random(), random());
    let mut file = step::create(&path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

fn running(token: &str) -> Option<u16> {
    let port = fs::read_to_string(place::state("jupyter/port")).ok()?.parse().ok()?;
    answers(port, token).then_some(port)
}

fn free_port() -> Result<u16> {
    for port in [PORT, 0] {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return Ok(listener.local_addr()?.port());
        }
    }
    bail!("no port is free on 127.0.0.1")
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
