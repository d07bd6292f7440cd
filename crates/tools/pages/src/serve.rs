//! Serves a folder of pages to this machine.
//!
//! Only reading is answered, only from inside the folder, only on the loopback address and
//! under its names; besides the folder, the files of trained models that pages may fetch, where
//! the reader has them.
//! One thread a connection and one answer a connection: a browser opens six at once, and
//! a server that keeps them open on fewer threads leaves the seventh to wait for ever.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use percent_encoding::percent_decode_str;
use workshop::{lab, models};

/// How long a browser may take to ask, in all, and the longest question.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it may take to read the answer, in all.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);
const LONGEST_HEAD: usize = 16 * 1024;

/// How much of what nobody asked for is read, so that the answer is read too.
const LONGEST_BODY: u64 = 16 * 1024 * 1024;

/// How long the server rests when the system gives it no connection, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

const OK: &str = "200 OK";

/// A running server; it ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    url: String,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves `folder`, and models that are among those of another folder, on `port`, or on a
    /// free one if that is taken.
    pub fn start(folder: &Path, models: &Path, port: u16) -> Result<Self> {
        let folder = folder
            .canonicalize()
            .with_context(|| format!("there is no book in {}", folder.display()))?;
        let served = Served { folder, models: models.to_path_buf() };
        let listener = TcpListener::bind(("127.0.0.1", port))
            .or_else(|_| TcpListener::bind(("127.0.0.1", 0)))
            .context("no port on 127.0.0.1 could be opened")?;
        let address = listener.local_addr().context("the server has no address")?;
        let ending = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&ending);
        let accept = move || listener.accept().map(|(stream, _)| stream);
        let thread = named("book")
            .spawn(move || answer_all(accept, &served, &stop))
            .context("no thread for the book's server")?;
        let url = format!("http://{address}/");
        Ok(Self { address, url, ending, thread: Some(thread) })
    }

    /// Where the first page is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until the process is ended.
    pub fn wait(mut self) {
        self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        // The thread waits for a connection: here is one.
        let woken = TcpStream::connect(self.address).is_ok();
        if woken && let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is served.
#[derive(Clone)]
struct Served {
    /// The pages.
    folder: PathBuf,
    /// The folders of trained models.
    models: PathBuf,
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_string())
}

/// Answers every connection until it is told to stop. What the system refuses (a
/// connection, for want of descriptors; a thread) is said once, and then waited for.
fn answer_all(
    mut accept: impl FnMut() -> io::Result<TcpStream>,
    served: &Served,
    stop: &AtomicBool,
) {
    let [first, longest] = PAUSES;
    let mut pause = first;
    let mut told = LastWarning::default();
    while !stop.load(Ordering::SeqCst) {
        let stream = match accept() {
            Ok(stream) => stream,
            Err(error) => {
                told.once(format_args!("no connection: {error}"));
                thread::sleep(pause);
                pause = longest.min(2 * pause);
                continue;
            }
        };
        pause = first;
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let stream = Arc::new(stream);
        let (theirs, theirs_served) = (Arc::clone(&stream), served.clone());
        // A reader who leaves before the answer is whole is no fault of ours.
        let spawned = named("page").spawn(move || drop(answer(&theirs, &theirs_served)));
        if let Err(error) = spawned {
            // Then one after the other.
            told.once(format_args!("no thread: {error}"));
            drop(answer(&stream, served));
        }
    }
}

/// What was said of a lack that lasts.
#[derive(Default)]
struct LastWarning(Option<String>);

impl LastWarning {
    fn once(&mut self, what: fmt::Arguments<'_>) {
        let what = what.to_string();
        if self.0.as_ref() != Some(&what) {
            // Where nobody can read it, the pages still count.
            let _ = writeln!(io::stderr(), "The book's server has {what}. It goes on.");
            self.0 = Some(what);
        }
    }
}

fn answer(stream: &TcpStream, served: &Served) -> io::Result<()> {
    let answered = answer_one(stream, served);
    // A socket that is closed with something unread in it takes the answer back.
    stream.shutdown(Shutdown::Write)?;
    let rest = Within::new(stream, PATIENCE.min(Duration::from_secs(2)));
    io::copy(&mut rest.take(LONGEST_BODY), &mut io::sink())?;
    answered
}

/// A connection that is over at a time, however little comes at once.
struct Within<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl<'a> Within<'a> {
    fn new(stream: &'a TcpStream, patience: Duration) -> Self {
        Self { stream, end: Instant::now() + patience }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Within<'_> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(part)
    }
}

impl Write for Within<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(part)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn answer_one(stream: &TcpStream, served: &Served) -> io::Result<()> {
    let head = read_head(&mut Within::new(stream, PATIENCE))?;
    let mut stream = Within::new(stream, LONGEST_ANSWER);
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let parsed = request.parse(&head).is_ok_and(|status| status.is_complete());
    let (Some(method), Some(url), true) = (request.method, request.path, parsed) else {
        return send(&mut stream, "400 Bad Request", &[], b"not understood", true);
    };
    // A page from elsewhere, whose name has come to mean this machine, reads nothing.
    if !is_own(request.headers) {
        let why = b"this is the book on 127.0.0.1, and no other host";
        return send(&mut stream, "421 Misdirected Request", &[], why, method == "GET");
    }
    if !matches!(method, "GET" | "HEAD") {
        let allow = [("Allow", "GET, HEAD")];
        return send(&mut stream, "405 Method Not Allowed", &allow, b"", true);
    }
    if has_body(request.headers) {
        return send(&mut stream, "413 Content Too Large", &[], b"no body", true);
    }
    let (path, status) = match served.find(url) {
        Some(path) => (path, OK),
        None => (served.folder.join("404.html"), "404 Not Found"),
    };
    // What is not there may come.
    let kept = if status == OK { cache_control(&path, url) } else { "no-cache" };
    let mut bytes = match served.bytes(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => b"not found".to_vec(),
        Err(error) => {
            let why = format!("{} cannot be read: {error}", path.display());
            let status = "503 Service Unavailable";
            return send(&mut stream, status, &[], why.as_bytes(), method == "GET");
        }
    };
    let mut fields = vec![
        ("Content-Type", content_type(&path)),
        ("Cache-Control", kept),
        ("X-Content-Type-Options", "nosniff"),
    ];
    // The plots' script is 1.3 MB as it is and less than half of that packed.
    if is_packed(&path) && takes_gzip(request.headers) {
        fields.extend([("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]);
        bytes = packed(&bytes)?;
    }
    send(&mut stream, status, &fields, &bytes, method == "GET")
}

/// Reads up to the empty line that ends a request without a body.
fn read_head(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut head, mut part) = (Vec::new(), [0; 2048]);
    while head.len() < LONGEST_HEAD && !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => break,
            n => head.extend_from_slice(&part[..n]),
        }
    }
    Ok(head)
}

fn send(
    stream: &mut impl Write,
    status: &str,
    fields: &[(&str, &str)],
    body: &[u8],
    with_body: bool,
) -> io::Result<()> {
    let fields: String =
        fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(if with_body { body } else { b"" })?;
    stream.flush()
}

/// Whether this machine is asked under a name of its own; its port may be another's that leads
/// here.
fn is_own(headers: &[httparse::Header]) -> bool {
    let mut hosts = headers.iter().filter(|it| it.name.eq_ignore_ascii_case("host"));
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(host) = str::from_utf8(host.value) else { return false };
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, "0"),
    };
    let is_here = ["127.0.0.1", "localhost", "[::1]"];
    is_here.iter().any(|it| it.eq_ignore_ascii_case(name)) && port.parse::<u16>().is_ok()
}

/// Whether gzip is among what the browser takes, and not with a weight of 0.
fn takes_gzip(headers: &[httparse::Header]) -> bool {
    let is_taken = |coding: &str| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f64>);
        name.trim().eq_ignore_ascii_case("gzip") && weight != Some(Ok(0.0))
    };
    headers.iter().any(|header| {
        let value = String::from_utf8_lossy(header.value);
        header.name.eq_ignore_ascii_case("accept-encoding")
            && value.split(',').any(is_taken)
    })
}

/// Whether more than the head is announced.
fn has_body(headers: &[httparse::Header]) -> bool {
    headers.iter().any(|header| {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        is("transfer-encoding") || (is("content-length") && header.value != b"0")
    })
}

impl Served {
    /// The file that an address means, if it lies in the folder or is one of a model's.
    fn find(&self, url: &str) -> Option<PathBuf> {
        let address = url.split(['?', '#']).next()?;
        let address = percent_decode_str(address).decode_utf8().ok()?;
        let of_model = models::file(&self.models, address.trim_start_matches('/'));
        if of_model.is_some() {
            return of_model;
        }
        let mut path = self.folder.clone();
        for part in address.split('/').filter(|part| !part.is_empty()) {
            let is_name =
                part != ".." && part != "." && !part.contains(['\\', '\0', ':']);
            path.push(is_name.then_some(part)?);
        }
        if path.is_dir() {
            path.push("index.html");
        }
        // Links are followed here, and may not lead out.
        let path = path.canonicalize().ok()?;
        (path.starts_with(&self.folder) && path.is_file()).then_some(path)
    }

    /// What a file holds; of the list of models, which are there now, and of the notebooks'
    /// place, where they run now.
    fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.folder.join(lab::FILE) {
            return Ok(lab::address().into_bytes());
        }
        let is_list = path == self.folder.join(models::LIST);
        let listed = is_list.then(|| models::list(&self.models));
        match listed.filter(|it| it.as_object().is_some_and(|it| !it.is_empty())) {
            Some(listed) => Ok(listed.to_string().into_bytes()),
            None => fs::read(path),
        }
    }
}

fn content_type(path: &Path) -> &'static str {
    match extension(path) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "md" => "text/markdown; charset=utf-8",
        "txt" | "toml" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// A file whose name or address carries its hash never changes; the rest is asked for
/// again, since the book is built again.
fn cache_control(path: &Path, url: &str) -> &'static str {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let hash = stem.rsplit('-').next().filter(|_| stem.contains('-')).unwrap_or_default();
    let hash = hash.split('.').next().unwrap_or_default();
    let hashed = hash.len() == 8 && hash.chars().all(|c| c.is_ascii_hexdigit());
    match hashed || url.contains("?v=") {
        true => "max-age=31536000, immutable",
        false => "no-cache",
    }
}

/// What is sent packed: text, and the module of the live figures.
fn is_packed(path: &Path) -> bool {
    matches!(
        extension(path),
        "html" | "css" | "js" | "json" | "svg" | "txt" | "md" | "wasm"
    )
}

fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
