//! A hand on a control: the keyboard's or the mouse's.

use headless_chrome::Tab;
use headless_chrome::browser::tab::point::Point;
use headless_chrome::protocol::cdp::Input::{
    DispatchMouseEvent, DispatchMouseEventTypeOption, MouseButton,
};
use lessons::live::{Control, Kind, Live};
use serde_json::{Map, Value};

use super::bound;
use super::compare::Compared;
use crate::browser::Open;

/// What moves a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    Keyboard,
    Mouse,
}

/// What a figure is at, and what it shows.
pub struct State {
    pub settings: Map<String, Value>,
    all: Value,
}

/// When nothing is under way any more.
pub fn state(page: &Open) -> State {
    let all: Value = serde_json::from_str(&page.text("tried.state()").unwrap()).unwrap();
    State { settings: all["settings"].as_object().unwrap().clone(), all }
}

/// The first settings, as a page has them.
pub fn first(live: &dyn Live) -> Map<String, Value> {
    let controls = live.controls().into_iter();
    controls.map(|it| (it.key.to_owned(), it.first.into())).collect()
}

impl State {
    /// One of the page's texts.
    pub fn text_of(&self, key: &str) -> &str {
        self.all[key].as_str().unwrap()
    }

    /// What the page shows otherwise than the crates do.
    pub fn faults(&self, live: &dyn Live) -> impl Iterator<Item = String> {
        let texts: Vec<(&str, &str)> = self
            .settings
            .iter()
            .map(|(key, text)| (key.as_str(), text.as_str().unwrap()))
            .collect();
        let mut faults = Vec::new();
        if self.all["isDrawn"] != true {
            faults.push("nothing is drawn".to_owned());
        }
        let moved = self.settings != first(live);
        if moved && !self.text_of("address").contains(live.name()) {
            faults.push(format!("the address is {}", self.text_of("address")));
        }
        // What is trained is compared at its end.
        if live.is_trained() {
            return faults.into_iter();
        }
        match live.draw(&texts) {
            Ok(shown) => {
                let shown = shown.to_json();
                let shown_there = Compared::new(&shown, &self.all["shown"], bound(live));
                faults.extend(shown_there.problems);
                if self.text_of("words") != self.all["shown"]["words"] {
                    faults.push(format!("it says “{}”", self.text_of("words")));
                }
                if !self.text_of("error").is_empty() {
                    faults.push(format!("it refuses: {}", self.text_of("error")));
                }
            }
            Err(error) if self.text_of("error") == format!("{error:#}") => {}
            Err(error) => faults
                .push(format!("not refused as {error:#}: {}", self.text_of("error"))),
        }
        faults.into_iter()
    }
}

impl Hand {
    /// Moves the `nth` control.
    pub fn moves(self, page: &Open, nth: usize, control: &Control) {
        match self {
            Self::Keyboard => keys(page, nth, control),
            Self::Mouse => mouse(page, nth, control),
        }
    }

    /// Presses a button of the figure.
    pub fn presses(self, page: &Open, button: &str) {
        self.presses_at(page, spot(page, &format!("tried.button({button:?})")));
    }

    /// Presses the button that has the keyboard, which lies there.
    fn presses_at(self, page: &Open, spot: Point) {
        match self {
            Self::Keyboard => _ = page.tab.press_key("Enter").unwrap(),
            Self::Mouse => _ = page.tab.click_point(spot).unwrap(),
        }
    }

    /// Drags each edge of an area that sets something, and says what is wrong then.
    pub fn drags_edges(self, page: &Open, live: &dyn Live) -> Vec<String> {
        if self == Self::Keyboard {
            return Vec::new();
        }
        let keys: Vec<String> =
            serde_json::from_str(&page.text("tried.edges()").unwrap()).unwrap();
        let mut problems = Vec::new();
        for key in keys {
            let before = state(page);
            let [from, to] =
                [0, 40].map(|apart| spot(page, &format!("tried.edge({key:?}, {apart})")));
            drag(&page.tab, from, to);
            let after = state(page);
            let setting = key.split('.').next().unwrap();
            if after.settings[setting] == before.settings[setting] {
                problems.push(format!("the edge of {key} did not move"));
            }
            problems.extend(after.faults(live));
        }
        if page.text("String(tried.isPainted())").unwrap() == "true" {
            let before = state(page);
            self.presses_at(page, spot(page, "tried.cell()"));
            let after = state(page);
            if after.settings == before.settings {
                problems.push("no cell was painted".to_owned());
            }
            problems.extend(after.faults(live));
        }
        problems
    }

    /// Trains, stops half-way, and changes what can be changed then.
    pub fn trains(self, page: &Open, live: &dyn Live) -> Vec<String> {
        // A control that is changed at any time has begun one.
        let idle = "(tried.live.isTraining && tried.live.stop(), \
                    tried.until(() => !tried.live.isTraining).then(() => ''))";
        page.text(idle).unwrap();
        let train = spot(page, "tried.button('Train')");
        self.presses_at(page, train);
        page.text("tried.until(() => tried.live.progress.value > 0).then(() => '')")
            .unwrap();
        self.presses_at(page, train);
        let stopped = state(page);
        let mut problems: Vec<String> = stopped.faults(live).collect();
        let value: Value = serde_json::from_str(
            &page.text("String(tried.live.progress.value)").unwrap(),
        )
        .unwrap();
        if value.as_f64().unwrap() >= 1.0 {
            problems.push("it was not stopped".to_owned());
        }
        for (nth, control) in live.controls().iter().enumerate() {
            if !control.at_any_time {
                continue;
            }
            self.moves(page, nth, control);
            let after = state(page);
            if after.all["shown"]["words"] == stopped.all["shown"]["words"] {
                problems
                    .push(format!("{} changes nothing after a training", control.key));
            }
        }
        problems
    }
}

/// Drags over the places of a drawing, from the first to the last, for each setting that has
/// some; gives how many that are, and what is wrong.
pub fn slides(page: &Open, live: &dyn Live) -> (usize, Vec<String>) {
    let keys: Vec<String> =
        serde_json::from_str(&page.text("tried.keys()").unwrap()).unwrap();
    let mut problems = Vec::new();
    for key in &keys {
        let place = |which: i32| {
            let part = format!("tried.places({key:?}).at({which})");
            (spot(page, &format!("tried.reached({part})")), part)
        };
        let ((from, _), (to, last)) = (place(0), place(-1));
        drag(&page.tab, from, to);
        let after = state(page);
        let pick = page.text(&format!("{last}.dataset.pick")).unwrap();
        if format!("{key}={}", after.settings[key].as_str().unwrap()) != pick {
            problems.push(format!("dragged to {pick}, {key} is {}", after.settings[key]));
        }
        problems.extend(after.faults(live).map(|fault| format!("{key}: {fault}")));
    }
    (keys.len(), problems)
}

fn keys(page: &Open, nth: usize, Control { kind, first, .. }: &Control) {
    let focus = |which: i32| page.text(&format!("tried.focus({nth}, {which})")).unwrap();
    let press = |key: &str| _ = page.tab.press_key(key).unwrap();
    focus(0);
    match kind {
        Kind::Number { most, .. } => {
            press(if *first == most.to_string() { "ArrowLeft" } else { "ArrowRight" });
        }
        Kind::Count { most, .. } => {
            press(if *first == most.to_string() { "ArrowDown" } else { "ArrowUp" });
        }
        Kind::Choice { options } => press(to_another(options, first)),
        Kind::Switch => press(" "),
        Kind::Text { .. } => {
            press("End");
            press("Backspace");
        }
        Kind::Words { .. } => press("a"),
        Kind::Matrix { .. } | Kind::Point { .. } => press("ArrowUp"),
        Kind::Paint { .. } => {
            press("ArrowRight");
            press("ArrowDown");
            press(" ");
        }
    }
}

/// From a choice's first option to a neighbour of it.
fn to_another(options: &[(String, String)], first: &str) -> &'static str {
    let is_last = options.last().is_some_and(|(last, _)| last == first);
    if is_last { "ArrowUp" } else { "ArrowDown" }
}

fn mouse(page: &Open, nth: usize, Control { kind, first, .. }: &Control) {
    let tab = &page.tab;
    let at = |which: &str, across: f64| {
        spot(page, &format!("tried.spot({nth}, {which}, {across}, 0.5)"))
    };
    match kind {
        Kind::Number { least, most, .. } => {
            let first: f64 = first.parse().unwrap();
            let is_right = (first - least) / (most - least) > 0.5;
            tab.click_point(at("0", if is_right { 0.1 } else { 0.9 })).unwrap();
        }
        // Into the field, and typed: another last digit.
        Kind::Count { .. } | Kind::Matrix { .. } | Kind::Text { .. } => {
            tab.click_point(at("0", 0.3)).unwrap();
            tab.press_key("End").unwrap();
            let text = page.text("document.activeElement.value").unwrap();
            tab.press_key("Backspace").unwrap();
            tab.type_str(if text.ends_with('2') { "1" } else { "2" }).unwrap();
        }
        Kind::Words { .. } => {
            tab.click_point(at("0", 0.3)).unwrap();
            tab.type_str("anna otto").unwrap();
        }
        Kind::Choice { options } => {
            tab.click_point(at("0", 0.5)).unwrap();
            let key = to_another(options, first);
            tab.press_key(key).unwrap().press_key("Enter").unwrap();
        }
        Kind::Switch => _ = tab.click_point(at("0", 0.5)).unwrap(),
        // Painted from the first cell to its neighbour.
        Kind::Paint { .. } => drag(tab, at("0", 0.5), at("1", 0.5)),
        Kind::Point { .. } => drag(tab, at("'tip'", 0.0), at("'tip'", -30.0)),
    }
}

fn spot(page: &Open, expression: &str) -> Point {
    let [x, y]: [f64; 2] = serde_json::from_str(&page.text(expression).unwrap()).unwrap();
    Point { x, y }
}

fn drag(tab: &Tab, from: Point, to: Point) {
    use DispatchMouseEventTypeOption::{MouseMoved, MousePressed, MouseReleased};
    for (what, at) in
        [(MouseMoved, from), (MousePressed, from), (MouseMoved, to), (MouseReleased, to)]
    {
        let is_pressed = !matches!(what, MouseMoved if at == from);
        tab.call_method(DispatchMouseEvent {
            Type: what,
            x: at.x,
            y: at.y,
            modifiers: None,
            timestamp: None,
            button: Some(if is_pressed { MouseButton::Left } else { MouseButton::None }),
            buttons: Some(u32::from(is_pressed)),
            click_count: Some(1),
            force: None,
            tangential_pressure: None,
            tilt_x: None,
            tilt_y: None,
            twist: None,
            delta_x: None,
            delta_y: None,
            pointer_Type: None,
        })
        .unwrap();
    }
}
