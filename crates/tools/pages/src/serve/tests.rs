use super::*;

fn folder() -> tempfile::TempDir {
    let outer = tempfile::tempdir().unwrap();
    let book = outer.path().join("book");
    fs::create_dir_all(book.join("css")).unwrap();
    fs::write(outer.path().join("secret.txt"), "secret").unwrap();
    fs::write(book.join("index.html"), "<p>hello").unwrap();
    fs::write(book.join("404.html"), "<p>lost").unwrap();
    fs::write(book.join("css/a b.css"), "a{}".repeat(1000)).unwrap();
    outer
}

/// A server of that book, and of no models.
fn start(outer: &tempfile::TempDir) -> Result<Server> {
    Server::start(&outer.path().join("book"), &outer.path().join("models"), 0)
}

fn ask(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let request = format!(
        "{request} HTTP/1.1\r\nHost: localhost:3000\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    answer(stream)
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn pages_are_served_with_their_types_and_nothing_else_is_done() {
    let outer = folder();
    let server = start(&outer).unwrap();
    let index = ask(&server, "GET /");
    assert!(index.contains("200") && index.contains("text/html"), "{index}");
    assert!(index.ends_with("<p>hello"), "{index}");
    let css = ask(&server, "GET /css/a%20b.css?v=1");
    assert!(css.contains("text/css") && css.contains("immutable"), "{css}");
    let head = ask(&server, "HEAD /index.html");
    assert!(head.contains("200") && !head.contains("hello"), "{head}");
    assert!(ask(&server, "POST /").contains("405"));
    let lost = ask(&server, "GET /nothing.html");
    assert!(lost.contains("404") && lost.ends_with("<p>lost"), "{lost}");
}

#[test]
fn nothing_outside_the_folder_is_served() {
    let outer = folder();
    let server = start(&outer).unwrap();
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/css/../../secret.txt",
        "/..\\secret.txt",
        "//../secret.txt",
    ] {
        let answer = ask(&server, &format!("GET {path}"));
        assert!(answer.contains("404") && !answer.contains("secret"), "{path}: {answer}");
    }
}

/// Of a model its own files are served, from the reader's folder or else from the book's, and
/// the list says what is there.
#[test]
fn a_model_that_is_there_is_listed_and_served_and_nothing_beside_it() {
    let outer = folder();
    let (book, models) = (outer.path().join("book"), outer.path().join("models"));
    fs::create_dir_all(book.join("assets")).unwrap();
    fs::write(book.join("assets/models.json"), "{\"a\": 1}").unwrap();
    let server = start(&outer).unwrap();
    let list = || ask(&server, "GET /assets/models.json");
    assert!(list().ends_with("{\"a\": 1}"), "{}", list());
    let model = &models::ALL[0];
    let inside = models.join(model.folder);
    fs::create_dir_all(&inside).unwrap();
    for file in model.files {
        fs::write(inside.join(file), format!("this is {file}")).unwrap();
    }
    fs::write(inside.join("other.txt"), "secret").unwrap();
    assert!(list().contains("no-cache") && list().contains("\"name\":\"config.json\""));
    let get = |file: &str| ask(&server, &format!("GET /models/{}/{file}", model.folder));
    let weights = get("model.safetensors?v=1");
    assert!(weights.ends_with("this is model.safetensors"), "{weights}");
    assert!(weights.contains("octet-stream") && weights.contains("immutable"));
    for file in ["other.txt", "../secret.txt", "..%2f..%2fsecret.txt", ""] {
        let lost = get(&format!("{file}?v=1"));
        assert!(lost.contains(" 404 ") && lost.contains("no-cache"), "{file}: {lost}");
    }
}

/// A page that somebody else serves can have its name mean this machine, and then read.
#[test]
fn another_host_is_answered_with_nothing() {
    let outer = folder();
    let server = start(&outer).unwrap();
    let port = server.address.port();
    let asked = |hosts: &[String]| {
        let hosts: String =
            hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(format!("GET / HTTP/1.1\r\n{hosts}\r\n").as_bytes()).unwrap();
        answer(stream)
    };
    for own in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        for host in [own.to_owned(), format!("{own}:{port}")] {
            assert!(asked(std::slice::from_ref(&host)).ends_with("<p>hello"), "{host}");
        }
    }
    let evil = format!("evil.example:{port}");
    for host in
        [evil.as_str(), "127.0.0.1.evil.example", "localhost:x", "", "[::1", ":80"]
    {
        let answer = asked(&[host.to_owned()]);
        assert!(
            answer.contains(" 421 ") && !answer.contains("hello"),
            "{host}: {answer}"
        );
    }
    assert!(asked(&[]).contains(" 421 "));
    assert!(asked(&["localhost".into(), evil.clone()]).contains(" 421 "));
}

/// Sends all of it, whatever comes back meanwhile, and then reads.
fn ask_with_body(server: &Server, method: &str, length: usize) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "{method} / HTTP/1.1\r\nHost: localhost:3000\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; length]).unwrap();
    thread::sleep(Duration::from_millis(100));
    answer(stream)
}

#[test]
fn a_body_is_answered_and_not_reset() {
    let outer = folder();
    let server = start(&outer).unwrap();
    for length in [1, 4000, 3_000_000] {
        assert!(ask_with_body(&server, "POST", length).contains(" 405 "), "{length}");
        assert!(ask_with_body(&server, "GET", length).contains(" 413 "), "{length}");
    }
    assert!(ask_with_body(&server, "GET", 0).contains(" 200 "));
    let long = "x".repeat(2 * LONGEST_HEAD);
    assert!(ask(&server, &format!("GET /{long}")).contains(" 400 "));
}

#[test]
fn without_connections_the_server_rests_and_goes_on() {
    let outer = folder();
    let folder = outer.path().join("book").canonicalize().unwrap();
    let served = Served { folder, models: outer.path().join("models") };
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (mut n_asked, stopper) = (0, Arc::clone(&stop));
    let start = std::time::Instant::now();
    let accept = || {
        n_asked += 1;
        match n_asked {
            // No descriptor is left.
            1..=4 => Err(io::Error::other("too many open files")),
            5 => listener.accept().map(|(stream, _)| stream),
            _ => {
                stopper.store(true, Ordering::SeqCst);
                Err(io::Error::other("the end"))
            }
        }
    };
    answer_all(accept, &served, &stop);
    assert!(start.elapsed() >= Duration::from_millis(150), "it spins");
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 200 "), "{answer}");
}

#[test]
fn a_taken_port_is_no_failure_and_a_dropped_server_frees_its_own() {
    let outer = folder();
    let [book, models] = ["book", "models"].map(|name| outer.path().join(name));
    let first = Server::start(&book, &models, 0).unwrap();
    let port = first.address.port();
    let second = Server::start(&book, &models, port).unwrap();
    assert_ne!(first.url(), second.url());
    drop(first);
    assert_eq!(
        cache_control(Path::new("book-0a1b2c3d.js"), "/"),
        "max-age=31536000, immutable"
    );
    assert_eq!(cache_control(Path::new("one-look.html"), "/one-look.html"), "no-cache");
}

#[test]
fn gzip_is_taken_unless_its_weight_is_0() {
    let takes = |value: &str| {
        takes_gzip(&[httparse::Header {
            name: "accept-Encoding",
            value: value.as_bytes(),
        }])
    };
    assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate,gzip"));
    assert!(
        !takes("gzip;q=0") && !takes("gzip; q=0.0, br") && !takes("br") && !takes("")
    );
}

/// A byte now and then kept its thread for as long as the bytes came.
#[test]
fn a_question_has_an_end_however_slowly_it_comes() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    let slow = thread::spawn(move || {
        for _ in 0..40 {
            if client.write_all(b"x").is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    });
    let start = Instant::now();
    let read = read_head(&mut Within::new(&stream, Duration::from_millis(300)));
    assert!(read.is_err() && start.elapsed() < Duration::from_secs(1));
    drop(stream);
    slow.join().unwrap();
}
