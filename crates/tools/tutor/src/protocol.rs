//! The Model Context Protocol on two streams: a line of JSON-RPC 2.0 in, a line out.
//!
//! Its revisions up to 2025-11-25 begin with `initialize`; that of 2026-07-28 has no beginning,
//! and each request says its revision. Both are spoken here, request by request.
//!
//! A tool runs on a thread of its own, so that a check that compiles keeps nobody waiting.

use std::io::{self, BufRead, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

/// Revisions that begin with `initialize`, the newest first. That of 2025-03-26 has requests
/// in lists, which the next one took back.
const WITH_BEGINNING: [&str; 3] = ["2025-11-25", "2025-06-18", "2024-11-05"];

/// The revision whose requests say which one they are of.
const BY_REQUEST: &str = "2026-07-28";

/// Where a request says it.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// The bytes that a request may have.
pub const LONGEST: usize = 4 << 20;

/// The bytes of a line that are read at most, to find out whose request was too long.
const MOST_READ: u64 = 64 << 20;

/// How many tools run at once.
const MOST_AT_ONCE: usize = 32;

/// How long tools that run are waited for once the client has gone.
const PATIENCE: Duration = Duration::from_secs(2);

const PARSE: i64 = -32700;
const REQUEST: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const BUSY: i64 = -32000;
const UNKNOWN_REVISION: i64 = -32022;

/// What a call of a tool comes to.
#[derive(Debug)]
pub enum Outcome {
    /// Its result as data.
    Value(Value),
    /// Why there is none, for the assistant, which may ask otherwise.
    Failed(String),
    /// Why this call is none: a name or arguments that no tool has.
    Refused(String),
}

/// What a server is, apart from its streams.
pub struct Tools<F> {
    /// For the assistant, before it calls a tool.
    pub instructions: &'static str,
    /// The tools, as `tools/list` gives them.
    pub list: Value,
    /// Calls one by its name.
    pub call: F,
}

struct Server<F, W> {
    tools: Tools<F>,
    output: Mutex<W>,
}

/// A request that wants a reply.
struct Request {
    id: Value,
    method: String,
    params: Value,
}

type Reply = Result<Value, (i64, String)>;

/// Answers until the input ends.
///
/// # Errors
/// An input that fails.
pub fn serve<F>(
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
    tools: Tools<F>,
) -> io::Result<()>
where
    F: Fn(&str, &Value) -> Outcome + Send + Sync + 'static,
{
    let server = Arc::new(Server { tools, output: Mutex::new(output) });
    let (running, ended) = mpsc::channel::<()>();
    while let Some(line) = next_line(&mut input)? {
        let request = match read(&line) {
            Ok(Some(request)) => request,
            Ok(None) => continue,
            Err((id, code, what)) => {
                server.reply(&id, Err((code, what)));
                continue;
            }
        };
        if request.method != "tools/call" {
            server.reply(&request.id, server.answer(&request));
            continue;
        }
        // One is this loop's.
        if Arc::strong_count(&server) > MOST_AT_ONCE {
            let what = format!("{MOST_AT_ONCE} calls are being answered: ask again");
            server.reply(&request.id, Err((BUSY, what)));
            continue;
        }
        let (server, running) = (Arc::clone(&server), running.clone());
        thread::spawn(move || {
            let answer = || server.answer(&request);
            let answered = panic::catch_unwind(AssertUnwindSafe(answer));
            let failed = |_| Err((INTERNAL, "the tool itself failed".to_owned()));
            server.reply(&request.id, answered.unwrap_or_else(failed));
            drop(running);
        });
    }
    drop(running);
    let _ = ended.recv_timeout(PATIENCE);
    Ok(())
}

/// The next line, and of a very long one its start; nothing at the end.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let n = input.take(MOST_READ).read_until(b'\n', &mut line)?;
    if n as u64 == MOST_READ && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok((n > 0).then_some(line))
}

/// The request of a line; nothing where no reply is wanted.
fn read(line: &[u8]) -> Result<Option<Request>, (Value, i64, String)> {
    #[derive(Deserialize)]
    struct Id {
        id: Value,
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if line.len() > LONGEST {
        let id = serde_json::from_slice::<Id>(line).map_or(Value::Null, |it| it.id);
        let what = format!("a request may have {} MB", LONGEST >> 20);
        return Err((id, REQUEST, what));
    }
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| (Value::Null, PARSE, format!("this is no JSON: {error}")))?;
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    let refused = |what: &str| {
        let id = id.cloned().unwrap_or(Value::Null);
        Err((id, REQUEST, what.to_owned()))
    };
    if message["jsonrpc"] != "2.0" {
        return refused("a message is an object with \"jsonrpc\": \"2.0\"");
    }
    match (message["method"].as_str(), message.get("id"), id) {
        (Some(_), None, _) => Ok(None),
        (Some(method), _, Some(id)) => Ok(Some(Request {
            id: id.clone(),
            method: method.to_owned(),
            params: message.get("params").cloned().unwrap_or_else(|| json!({})),
        })),
        // A reply to a question that was never put.
        (None, Some(_), _)
            if message.get("result").or(message.get("error")).is_some() =>
        {
            Ok(None)
        }
        (None, ..) => refused("a request has a \"method\""),
        _ => refused("an \"id\" is a text or a whole number"),
    }
}

impl<F: Fn(&str, &Value) -> Outcome, W: Write> Server<F, W> {
    fn answer(&self, request: &Request) -> Reply {
        let Request { method, params, .. } = request;
        let revision = params["_meta"][REVISION].as_str();
        if let Some(revision) = revision.filter(|it| *it != BY_REQUEST) {
            return Err((UNKNOWN_REVISION, revision.to_owned()));
        }
        let mut result = self.result(method, params)?;
        if revision.is_some() || method == "server/discover" {
            result["resultType"] = "complete".into();
            result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": own_name()});
            if method != "tools/call" {
                result["ttlMs"] = 3_600_000.into();
                result["cacheScope"] = "public".into();
            }
        }
        Ok(result)
    }

    fn result(&self, method: &str, params: &Value) -> Reply {
        let capabilities = json!({"tools": {}});
        match method {
            "ping" => Ok(json!({})),
            "initialize" => {
                let asked = params["protocolVersion"].as_str();
                let asked = asked.ok_or((PARAMS, "no \"protocolVersion\"".to_owned()))?;
                let known = WITH_BEGINNING.iter().find(|it| **it == asked);
                Ok(json!({
                    "protocolVersion": known.unwrap_or(&WITH_BEGINNING[0]),
                    "capabilities": capabilities,
                    "serverInfo": own_name(),
                    "instructions": self.tools.instructions,
                }))
            }
            "server/discover" => Ok(json!({
                "supportedVersions": revisions(),
                "capabilities": capabilities,
                "instructions": self.tools.instructions,
            })),
            "tools/list" => Ok(json!({"tools": self.tools.list})),
            "tools/call" => {
                let name = params["name"].as_str();
                let name = name.ok_or((PARAMS, "no \"name\" of a tool".to_owned()))?;
                let none = json!({});
                match (self.tools.call)(name, params.get("arguments").unwrap_or(&none)) {
                    Outcome::Value(value) => Ok(json!({
                        "content": [{"type": "text", "text": value.to_string()}],
                        "structuredContent": value,
                        "isError": false,
                    })),
                    Outcome::Failed(why) => Ok(json!({
                        "content": [{"type": "text", "text": why}],
                        "isError": true,
                    })),
                    Outcome::Refused(why) => Err((PARAMS, format!("{name}: {why}"))),
                }
            }
            _ => Err((METHOD, format!("there is no method {method:?}"))),
        }
    }

    fn reply(&self, id: &Value, reply: Reply) {
        let reply = match reply {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, what)) => {
                let mut error = json!({"code": code, "message": what});
                if code == UNKNOWN_REVISION {
                    error["message"] = "this revision is not spoken here".into();
                    error["data"] = json!({"supported": revisions(), "requested": what});
                }
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that reads no more soon closes the input too.
        let _ = writeln!(output, "{reply}").and_then(|()| output.flush());
    }
}

fn own_name() -> Value {
    json!({"name": "cargo-learn-tutor", "version": env!("CARGO_PKG_VERSION")})
}

/// All revisions that are spoken here.
fn revisions() -> Vec<&'static str> {
    [BY_REQUEST].into_iter().chain(WITH_BEGINNING).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, pipe};

    use super::*;

    #[test]
    fn a_slow_tool_keeps_nobody_waiting_and_one_that_panics_is_an_error() {
        let (go_on, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let call = move |name: &str, _: &Value| match name {
            "slow" => {
                let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(5));
                Outcome::Value(json!({"is": "done"}))
            }
            _ => panic!("a fault"),
        };
        let (input, mut requests) = pipe().unwrap();
        let (replies, output) = pipe().unwrap();
        let tools = Tools { instructions: "", list: json!([]), call };
        let server = thread::spawn(move || serve(BufReader::new(input), output, tools));
        let mut replies = BufReader::new(replies).lines().map(|it| it.unwrap());
        let mut ask = |id: u8, method: &str, name: &str| {
            let params = json!({"name": name});
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(requests, "{request}").unwrap();
        };
        ask(1, "tools/call", "slow");
        ask(2, "ping", "");
        assert!(replies.next().unwrap().contains(r#""id":2"#));
        ask(3, "tools/call", "broken");
        let broken = replies.next().unwrap();
        assert!(broken.contains("-32603") && broken.contains(r#""id":3"#), "{broken}");
        go_on.send(()).unwrap();
        assert!(replies.next().unwrap().contains("done"));
        drop(requests);
        server.join().unwrap().unwrap();
        assert_eq!(replies.next(), None);
    }
}
