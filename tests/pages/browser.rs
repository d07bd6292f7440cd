//! A Chromium that tells what it saw.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use headless_chrome::browser::tab::point::Point;
use headless_chrome::protocol::cdp::Page::AddScriptToEvaluateOnNewDocument;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Log, Network};
use headless_chrome::{LaunchOptions, Tab};
use serde_json::Value;

/// axe-core, which looks for what hinders people with a screen reader.
pub const AXE: &str = include_str!("axe.min.js");
const LOOK: &str = include_str!("look.js");

/// How wide, and in which theme.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub width: u32,
    pub dark: bool,
}

impl View {
    pub fn theme(self) -> &'static str {
        if self.dark { "dark" } else { "light" }
    }

    /// Twice as large, the same window holds half as much.
    fn is_zoomed(self) -> bool {
        self.width == 640
    }
}

/// What was seen of one page.
#[derive(Debug, Default)]
pub struct PageReport {
    /// All that was sent for it.
    pub bytes: f64,
    pub problems: Vec<String>,
}

pub struct Browser {
    chrome: headless_chrome::Browser,
}

impl Browser {
    /// Starts the Chromium of this machine.
    pub fn start() -> Result<Self> {
        let quiet = [
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            // Nothing but this machine has an address.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ];
        let options = LaunchOptions {
            path: chromium(),
            // A container's root has no sandbox.
            sandbox: false,
            args: quiet.iter().map(OsStr::new).collect(),
            idle_browser_timeout: Duration::from_secs(600),
            ..LaunchOptions::default()
        };
        let chrome = headless_chrome::Browser::new(options)
            .context("no Chromium could be started; set CHROMIUM to its path")?;
        Ok(Self { chrome })
    }

    /// Looks at a page with everything that any page must have.
    pub fn look(&self, url: &str, view: View) -> Result<PageReport> {
        let page = self.open(url, view, "")?;
        page.tab.evaluate(AXE, false)?;
        let found: Vec<String> = serde_json::from_str(&page.text(LOOK)?)?;
        let mut seen = page.close()?;
        seen.problems.extend(found);
        Ok(seen)
    }

    /// Opens a page in a tab of its own, without anything that was kept; `first` is run
    /// before any script of the page.
    pub fn open(&self, url: &str, view: View, first: &str) -> Result<Open> {
        let tab = self.chrome.new_tab()?;
        tab.set_default_timeout(Duration::from_secs(60));
        let seen = watch(&tab, url)?;
        set_view(&tab, view)?;
        if !first.is_empty() {
            tab.call_method(AddScriptToEvaluateOnNewDocument {
                source: first.to_owned(),
                world_name: None,
                include_command_line_api: None,
                run_immediately: None,
            })?;
        }
        tab.navigate_to(url)?;
        wait_until_drawn(&tab).with_context(|| url.to_owned())?;
        Ok(Open { tab, seen })
    }
}

/// A page that is open, and watched.
pub struct Open {
    pub tab: Arc<Tab>,
    seen: Arc<Mutex<PageReport>>,
}

impl Open {
    /// What an expression comes to, when it has: a text.
    pub fn text(&self, expression: &str) -> Result<String> {
        let found = self.tab.evaluate(expression, true)?;
        let said = found.description.unwrap_or_default();
        let value = found.value.with_context(|| format!("{expression}: {said}"))?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }

    /// All that was sent so far.
    pub fn bytes(&self) -> f64 {
        std::thread::sleep(Duration::from_millis(50)); // what has come is noted
        self.seen.lock().expect("no listener panicked").bytes
    }

    /// Clicks where an expression, `[x, y]`, says.
    pub fn click(&self, spot: &str) {
        self.tab.click_point(self.point(spot)).expect("a page can be clicked");
    }

    /// Moves the mouse there.
    pub fn hover(&self, spot: &str) {
        self.tab.move_mouse_to_point(self.point(spot)).expect("a mouse can be moved");
    }

    fn point(&self, spot: &str) -> Point {
        let found = self.text(spot).expect("a spot is on the page");
        let [x, y]: [f64; 2] = serde_json::from_str(&found).expect("two numbers");
        Point { x, y }
    }

    /// From here on nothing comes from anywhere.
    pub fn offline(&self) -> Result<()> {
        self.tab.call_method(Network::EmulateNetworkConditions {
            offline: true,
            latency: 0.0,
            download_throughput: -1.0,
            upload_throughput: -1.0,
            connection_Type: None,
            packet_loss: None,
            packet_queue_length: None,
            packet_reordering: None,
        })?;
        Ok(())
    }

    /// Closes the page; gives what was seen.
    pub fn close(self) -> Result<PageReport> {
        // What the clicks have caused has arrived by now.
        std::thread::sleep(Duration::from_millis(50));
        self.tab.close(false)?;
        Ok(std::mem::take(&mut *self.seen.lock().expect("no listener panicked")))
    }

    /// Closes a page on which nothing was to go wrong.
    #[track_caller]
    pub fn close_without_problems(self) {
        let seen = self.close().expect("a page can be closed");
        assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    }
}

impl PageReport {
    /// Notes a request, a failure or a message of the console of a page on this host.
    fn note(&mut self, event: &Event, host: &str) {
        match event {
            Event::NetworkRequestWillBeSent(event) => {
                let url = &event.params.request.url;
                if !url.starts_with(host) && !url.starts_with("data:") {
                    self.problems.push(format!("asked another host: {url}"));
                }
            }
            Event::NetworkResponseReceived(event) => {
                let response = &event.params.response;
                if response.status >= 400 {
                    self.problems
                        .push(format!("{} for {}", response.status, response.url));
                }
            }
            Event::NetworkLoadingFailed(event) => {
                self.problems.push(format!("failed: {}", event.params.error_text));
            }
            Event::NetworkLoadingFinished(event) => {
                self.bytes += event.params.encoded_data_length;
            }
            Event::LogEntryAdded(event) => {
                let entry = &event.params.entry;
                if entry.level != Log::LogEntryLevel::Verbose {
                    let url = entry.url.as_deref().unwrap_or_default();
                    self.problems.push(format!("console: {} {url}", entry.text));
                }
            }
            Event::RuntimeExceptionThrown(event) => {
                let details = &event.params.exception_details;
                let text = details.exception.as_ref().and_then(|e| e.description.clone());
                self.problems.push(format!("error: {}", text.unwrap_or_default()));
            }
            Event::RuntimeConsoleAPICalled(event) => {
                let words = event.params.args.iter().filter_map(|arg| arg.value.as_ref());
                let words: Vec<String> = words.map(Value::to_string).collect();
                self.problems.push(format!("console: {}", words.join(" ")));
            }
            _ => {}
        }
    }
}

/// Notes every request, failure and message of the console.
fn watch(tab: &Tab, url: &str) -> Result<Arc<Mutex<PageReport>>> {
    let seen = Arc::new(Mutex::new(PageReport::default()));
    let host: String = url.split('/').take(3).collect::<Vec<_>>().join("/");
    let listener = {
        let seen = Arc::clone(&seen);
        move |event: &Event| {
            seen.lock().expect("no listener panicked").note(event, &host);
        }
    };
    tab.add_event_listener(Arc::new(listener))?;
    tab.enable_log()?;
    tab.enable_runtime()?;
    tab.call_method(Network::Enable {
        max_total_buffer_size: None,
        max_resource_buffer_size: None,
        max_post_data_size: None,
        report_direct_socket_traffic: None,
        enable_durable_messages: None,
    })?;
    tab.call_method(Network::SetCacheDisabled { cache_disabled: true })?;
    Ok(seen)
}

fn set_view(tab: &Tab, view: View) -> Result<()> {
    tab.call_method(Emulation::SetDeviceMetricsOverride {
        width: view.width,
        height: if view.is_zoomed() { 450 } else { 900 },
        device_scale_factor: if view.is_zoomed() { 2.0 } else { 1.0 },
        mobile: view.width < 600,
        scale: None,
        screen_width: None,
        screen_height: None,
        position_x: None,
        position_y: None,
        dont_set_visible_size: None,
        screen_orientation: None,
        viewport: None,
        display_feature: None,
        device_posture: None,
    })?;
    let motion = if view.is_zoomed() { "reduce" } else { "no-preference" };
    let feature = |(name, value): (&str, &str)| Emulation::MediaFeature {
        name: name.into(),
        value: value.into(),
    };
    let features =
        [("prefers-color-scheme", view.theme()), ("prefers-reduced-motion", motion)];
    tab.call_method(Emulation::SetEmulatedMedia {
        media: None,
        features: Some(features.map(feature).into()),
    })?;
    Ok(())
}

/// Figures are drawn after the page has come, by a script that comes with them. (That the
/// network is quiet is not waited for: it takes half a second to be called so, a page.)
fn wait_until_drawn(tab: &Tab) -> Result<()> {
    let drawn = "location.href !== 'about:blank' && document.readyState === 'complete' && \
                 [...document.querySelectorAll('figure .figure-plot')]\
                 .every(plot => plot.querySelector('svg'))";
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        // Between two pages there is nothing that could answer.
        let value = tab.evaluate(drawn, false).ok().and_then(|found| found.value);
        if value == Some(Value::Bool(true)) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "a figure was not drawn within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The browser that `CHROMIUM` names; without it, headless_chrome looks for one.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    named
        .or_else(|| Some(PathBuf::from("/usr/bin/chromium")).filter(|path| path.exists()))
}
