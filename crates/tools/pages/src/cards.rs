//! Pictures of pages, for links to them: the title, what the page says of itself, and its first
//! figure. And of chapters the figure alone, for the first page.
//!
//! A page that is opened at `#card` or `#thumbnail` shows just that (`theme/learn.js`), and a
//! Chromium of this machine takes the picture.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use workshop::{at_once, chapters, group, paths};

use super::check;

/// Where a book has the card of each page, from its root.
pub const FOLDER: &str = "cards";

/// Where the sources have the thumbnails of chapters.
const THUMBNAILS: &str = "chapters/images/cards";

/// How large each is, in pixels.
const CARD: [u32; 2] = [1200, 630];
const THUMBNAIL: [u32; 2] = [480, 252];

/// How a Chromium may be called, where `CHROMIUM` does not say.
const BROWSERS: [&str; 4] =
    ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"];

/// Writes a card for each page of the built book, beside it.
///
/// # Errors
/// No Chromium; a page that it cannot draw.
pub fn cards(built: &Path) -> Result<usize> {
    let server = super::serve(0)?;
    let mut pages = Vec::new();
    for page in check::files(built, ".html")? {
        let name = page.strip_prefix(built)?.to_string_lossy().replace('\\', "/");
        let picture = built.join(FOLDER).join(Path::new(&name).with_extension("png"));
        pages.push((format!("{}{name}#card", server.url()), picture));
    }
    take(&pages, CARD)
}

/// Writes the thumbnail of each chapter with the sources.
///
/// # Errors
/// As [`cards`].
pub fn thumbnails() -> Result<usize> {
    let server = super::serve(0)?;
    let folder = paths::workspace().join(THUMBNAILS);
    let picture = |it: chapters::Chapter| {
        let file = folder.join(it.topic()).with_extension("png");
        (format!("{}{}.html#thumbnail", server.url(), it.page), file)
    };
    take(&chapters::all()?.into_iter().map(picture).collect::<Vec<_>>(), THUMBNAIL)
}

/// Takes these pictures, each of an address, and says how many there are.
fn take(pictures: &[(String, PathBuf)], size: [u32; 2]) -> Result<usize> {
    let browser = browser()?;
    let taken = at_once::map(pictures, at_once::n_processors(), |(address, picture)| {
        let profile = tempfile::tempdir()?;
        fs::create_dir_all(picture.parent().context("a picture lies in a folder")?)?;
        let mut chromium = Command::new(&browser);
        chromium
            .args(["--headless", "--no-sandbox", "--hide-scrollbars", "--no-first-run"])
            .args(["--disable-background-networking", "--virtual-time-budget=8000"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--window-size={},{}", size[0], size[1]))
            .arg(format!("--screenshot={}", picture.display()))
            .arg(address)
            // It says much of a machine without a screen.
            .stderr(Stdio::null());
        let status = group::status(&mut chromium).context("Chromium could not start")?;
        ensure!(
            status.success() && picture.is_file(),
            "no picture of {address}: {status}"
        );
        anyhow::Ok(())
    });
    taken.into_iter().collect::<Result<Vec<_>>>().map(|taken| taken.len())
}

/// The Chromium that `CHROMIUM` names, or the first in the path.
fn browser() -> Result<PathBuf> {
    if let Some(named) = env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let found =
        BROWSERS.iter().flat_map(|name| folders.iter().map(move |it| it.join(name)));
    found.into_iter().find(|it| it.is_file()).context(
        "pictures of pages take a Chromium or a Chrome: set CHROMIUM to its path",
    )
}
