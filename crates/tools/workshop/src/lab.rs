//! Where notebooks run, for the pages that name them: JupyterLab's address without its token,
//! which the browser has since it was opened.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::paths;

/// From the book's root, what pages ask for.
pub const FILE: &str = "assets/lab.json";

/// How long a program on this machine may take to answer.
const PATIENCE: Duration = Duration::from_millis(200);

fn file() -> PathBuf {
    paths::state().join("jupyter/lab-port")
}

/// Keeps the port of the JupyterLab that runs now.
///
/// # Errors
/// A file that cannot be written.
pub fn keep(port: u16) -> io::Result<()> {
    fs::write(file(), port.to_string())
}

/// What a page is told: where notebooks are opened, as long as something listens there.
pub fn address() -> String {
    address_in(&file())
}

fn address_in(file: &Path) -> String {
    let port = fs::read_to_string(file).ok().and_then(|text| text.parse().ok());
    let answers = |port: &u16| {
        let address = (Ipv4Addr::LOCALHOST, *port).into();
        TcpStream::connect_timeout(&address, PATIENCE).is_ok()
    };
    match port.filter(answers) {
        Some(port) => {
            json!({ "lab": format!("http://127.0.0.1:{port}/lab/tree/") }).to_string()
        }
        None => "{}".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_lab_is_named_while_it_listens() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lab-port");
        assert_eq!(address_in(&file), "{}");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        fs::write(&file, port.to_string()).unwrap();
        let expected = format!("{{\"lab\":\"http://127.0.0.1:{port}/lab/tree/\"}}");
        assert_eq!(address_in(&file), expected);
        drop(listener);
        assert_eq!(address_in(&file), "{}");
    }
}
