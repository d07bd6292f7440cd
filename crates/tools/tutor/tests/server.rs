//! The compiled server, spoken to as a client does.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

struct Client {
    server: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    _notes: tempfile::TempDir,
}

impl Client {
    fn new() -> Self {
        let notes = tempfile::tempdir().unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_tutor"));
        server.args(["tutor", "--notes"]).arg(notes.path().join("notes.json"));
        server.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let (line, lines) = mpsc::channel();
        thread::spawn(move || output.lines().try_for_each(|it| line.send(it.unwrap())));
        let input = server.stdin.take();
        Self { server, input, lines, _notes: notes }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line, which is a message of the protocol.
    fn reply(&self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(60)).expect("a reply");
        let reply: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(reply["jsonrpc"], "2.0", "{reply}");
        reply
    }

    fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request.to_string());
        let reply = self.reply();
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(tool, "tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Closes the input, after which the server ends.
    fn close(mut self) {
        drop(self.input.take());
        assert!(self.server.wait().unwrap().success());
        assert!(self.lines.recv().is_err(), "nothing but replies");
    }
}

#[test]
fn a_session_from_its_beginning_to_its_end() {
    let mut client = Client::new();
    let version = |client: &mut Client, asked: &str| {
        let reply = client.ask(0, "initialize", json!({"protocolVersion": asked}));
        reply["result"]["protocolVersion"].clone()
    };
    assert_eq!(version(&mut client, "2025-06-18"), "2025-06-18");
    assert_eq!(version(&mut client, "1999-01-01"), "2025-11-25");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(client.ask("a", "ping", json!({}))["result"], json!({}));

    let tools = client.ask(1, "tools/list", json!({}))["result"]["tools"].take();
    let named =
        |name: &str| tools.as_array().unwrap().iter().find(|it| it["name"] == name);
    let calls = [
        ("check", json!({"exercise": "count_parameters", "outputs": "[1, 2]"})),
        ("hint", json!({"exercise": 4, "again": null})),
        ("what_if", json!({"exercise": "scale", "change": "not-scaled"})),
        ("next", json!({})),
    ];
    for (name, arguments) in calls {
        let reply = client.call(name, arguments)["result"].take();
        assert_eq!(reply["isError"], false, "{reply}");
        let (schema, data) =
            (&named(name).unwrap()["outputSchema"], &reply["structuredContent"]);
        let text = reply["content"][0]["text"].as_str().unwrap();
        assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), data);
        let keys: Vec<_> = data.as_object().unwrap().keys().collect();
        let mut required: Vec<_> =
            schema["required"].as_array().unwrap().iter().collect();
        required.sort_by_key(|it| it.to_string());
        assert_eq!(json!(keys), json!(required), "{name}");
    }
    client.close();
}

#[test]
fn each_request_may_say_its_revision() {
    let mut client = Client::new();
    let of = |revision| json!({"_meta": {"io.modelcontextprotocol/protocolVersion": revision}});
    let found = client.ask(1, "server/discover", of("2026-07-28"));
    assert_eq!(found["result"]["supportedVersions"][0], "2026-07-28");
    let list = client.ask(2, "tools/list", of("2026-07-28"));
    assert_eq!(list["result"]["resultType"], "complete");
    let refused = client.ask(3, "tools/list", of("2031-01-01"));
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    client.close();
}

#[test]
fn what_is_no_request_is_refused_and_the_server_lives_on() {
    let mut client = Client::new();
    for (line, code) in [
        ("{\"jsonrpc\": \"2.0\", \"id\": 1,", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (&"[".repeat(100_000), -32700),
    ] {
        client.send(line);
        let reply = client.reply();
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(code), &Value::Null));
    }
    assert_eq!(client.ask(2, "resources/list", json!({}))["error"]["code"], -32601);
    let wrong = [
        json!({"name": "solve", "arguments": {}}),
        json!({"name": "hint"}),
        json!({"name": "hint", "arguments": {"exercise": "scale", "all": true}}),
        json!({"name": "what_if", "arguments": ["scale"]}),
        json!({"name": "what_if", "arguments": {"exercise": "scale", "change": 1}}),
    ];
    for params in wrong {
        let reply = client.ask(3, "tools/call", params);
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
    let outputs = "1 ".repeat(5_000_000);
    let huge = client.call("check", json!({"exercise": "scale", "outputs": outputs}));
    assert_eq!(huge["error"]["code"], -32600, "{huge}");
    // Sources are no numbers, and no error quotes them.
    for file in ["crates/5-book/exercises/set/scale.rs", "Cargo.lock", "none.npz"] {
        let reply = client.call("check", json!({"exercise": "scale", "file": file}));
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let reply = client.call("diagnose", json!({"file": file}));
        assert_eq!(reply["result"]["isError"], true, "{reply}");
    }
    client.close();
}

#[test]
fn requests_side_by_side_get_each_its_own_reply() {
    let mut client = Client::new();
    let ids: Vec<&str> =
        vec!["softmax", "scale", "masks", "rotary", "windows", "batches"];
    for id in &ids {
        let arguments = json!({"exercise": id});
        let params = json!({"name": "hint", "arguments": arguments});
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        client.send(&request.to_string());
    }
    let replies = ids.iter().map(|_| client.reply());
    let replies: BTreeMap<String, Value> = replies
        .map(|it| (it["id"].as_str().unwrap().to_owned(), it["result"].clone()))
        .collect();
    assert_eq!(replies.len(), ids.len());
    for (id, reply) in &replies {
        assert_eq!(reply["structuredContent"]["exercise"], id.as_str(), "{reply}");
    }
    client.close();
}
