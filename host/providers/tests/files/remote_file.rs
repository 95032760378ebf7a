use super::server::{Request, Server, answer, ok, talker};
use super::support::{Asked, Machine, resource};
use contract::Certainty;
use serde_json::{Value, json};

fn remote(path: &str, properties: Value) -> Asked {
    resource("remote_file", path, "create", properties)
}

fn site() -> Server {
    Server::start(|request: &Request| match request.path.as_str() {
        "/file" => ok("content"),
        "/etag" if request.field("if-none-match") == Some("\"one\"") => answer("304 Not Modified", &[], b""),
        "/etag" => {
            answer("200 OK", &[("etag", "\"one\""), ("last-modified", "Sat, 01 Jan 2022 00:00:00 GMT")], b"tagged")
        }
        "/here" => answer("302 Found", &[("location", "/file")], b""),
        "/loop" => answer("302 Found", &[("location", "/loop")], b""),
        "/shadow" => answer("302 Found", &[("location", "file:///etc/shadow")], b""),
        "/short" => [b"200 OK\r\ncontent-length: 100\r\n\r\n".as_slice(), b"half"].concat(),
        "/broken" => answer("503 Service Unavailable", &[], b"later"),
        "/agent" => ok(request.field("x-token").unwrap_or("none")),
        _ => answer("404 Not Found", &[], b"nothing"),
    })
}

#[test]
fn downloads_are_compared_and_put_in_place() {
    let (server, mut machine) = (site(), Machine::open());
    let asked = remote("/srv/x", json!({ "source": [server.url("/file")], "mode": "0600" }));
    machine.check(
        &asked,
        &[
            "create new file /srv/x",
            "update content in file /srv/x from none to ed7002",
            "change mode from '' to '0600'",
        ],
    );
    assert_eq!((machine.read("/srv/x").as_str(), machine.mode("/srv/x")), ("content", 0o600));
    machine.write("/srv/x", "changed");
    let outcome = machine.run(&asked).unwrap();
    assert_eq!(outcome.diffs.len(), 1);
    assert_eq!(machine.read("/srv/x"), "content");
    let once = resource("remote_file", "/srv/x", "create_if_missing", json!({ "source": server.url("/none") }));
    machine.check(&once, &[]);
    machine.check(&resource("remote_file", "/srv/x", "delete", json!({})), &["delete file /srv/x"]);
    let fields = json!({ "source": server.url("/agent"), "headers": { "X-Token": "abc" } });
    machine.run(&remote("/srv/agent", fields)).unwrap();
    assert_eq!(machine.read("/srv/agent"), "abc");
    assert_eq!(machine.names("/srv"), ["agent"]);
}

/// A checksum may be the beginning of a digest: tried sign by sign, it told the whole.
#[test]
fn attack_a_checksum_tells_no_digest_of_what_may_not_be_read() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/secret\"]");
    let digest = "ca91104ad220a4211956bdb30cffd19f5d6b4ddbc5c5bc77c98499772ed1ca57";
    let asked =
        |path: &str, checksum: &str| remote(path, json!({ "source": ["http://127.0.0.1:9/x"], "checksum": checksum }));
    for path in ["/srv/secret", "/srv/own"] {
        machine.write(path, "pin 4711");
    }
    for checksum in [&digest[..1], &digest[..8], digest, "0"] {
        machine.fails(&asked("/srv/secret", checksum), "Wrun::Denied", "http://127.0.0.1:9");
    }
    machine.check(&asked("/srv/own", &digest[..8]), &[]);
}

#[test]
fn a_checksum_saves_the_download_and_refuses_others() {
    let (server, mut machine) = (site(), Machine::open());
    let sum = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    let asked = remote("/srv/x", json!({ "source": [server.url("/file")], "checksum": sum }));
    machine.run(&asked).unwrap();
    let asked_for = server.requests().len();
    machine.check(&asked, &[]);
    machine.check(&remote("/srv/x", json!({ "source": [server.url("/file")], "checksum": "ED7002" })), &[]);
    assert_eq!(server.requests().len(), asked_for, "nothing was asked for");
    let wrong = json!({ "source": [server.url("/file")], "checksum": "0".repeat(64) });
    machine.fails(
        &remote("/srv/y", wrong),
        "Chef::Exceptions::ChecksumMismatch",
        "Checksum on resource (000000...) does not match checksum on content (ed7002...)",
    );
    assert_eq!(machine.names("/srv"), ["x"]);
}

#[test]
fn the_server_is_asked_by_what_it_said_last() {
    let (server, mut machine) = (site(), Machine::open());
    let asked = remote("/srv/x", json!({ "source": [server.url("/etag")] }));
    machine.run(&asked).unwrap();
    machine.check(&asked, &[]);
    let last = server.requests().pop().unwrap();
    assert_eq!(last.field("if-none-match"), Some("\"one\""));
    assert_eq!(last.field("if-modified-since"), Some("Sat, 01 Jan 2022 00:00:00 GMT"));
    machine.check(&remote("/srv/x", json!({ "source": [server.url("/etag")], "use_conditional_get": false })), &[]);
    assert_eq!(server.requests().pop().unwrap().field("if-none-match"), None);
    // What was changed on the node is not what the server was asked about.
    machine.write("/srv/x", "changed");
    machine.run(&asked).unwrap();
    assert_eq!(server.requests().pop().unwrap().field("if-none-match"), None);
    assert_eq!(machine.read("/srv/x"), "tagged");
}

#[test]
fn failures_have_rubys_classes() {
    let (server, mut machine) = (site(), Machine::open());
    let closed = specs::ClosedPort::new().unwrap();
    let dead = closed.address().unwrap();
    let refused = format!("Connection refused - Connection refused connecting to http://{dead}/a%20b, giving up");
    for (source, class, message) in [
        (server.url("/none"), "Net::HTTPClientException", "404 \"Not Found\""),
        (server.url("/broken"), "Net::HTTPFatalError", "503 \"Service Unavailable\""),
        (server.url("/loop"), "Chef::Exceptions::RedirectLimitExceeded", ""),
        (server.url("/short"), "Chef::Exceptions::ContentLengthMismatch", ""),
        (talker("HTTP/1.1 200 OK\r\n\r\nplain").replace("http:", "https:"), "OpenSSL::SSL::SSLError", "127.0.0.1"),
        (talker("").replace("http:", "https:"), "OpenSSL::SSL::SSLError", "127.0.0.1"),
        (talker(""), "EOFError", "end of file reached"),
        (talker("nonsense\r\n\r\n"), "Net::HTTPBadResponse", "127.0.0.1"),
        (format!("http://{dead}/a b"), "Errno::ECONNREFUSED", refused.as_str()),
        ("http://no-such-host.invalid/".into(), "SocketError", "no-such-host.invalid"),
        ("file:///no/such".into(), "Errno::ENOENT", "No such file or directory @ rb_sysopen - /no/such"),
        ("nothing".into(), "Chef::Exceptions::InvalidRemoteFileURI", "\"nothing\" is not a valid `source` parameter"),
        ("ftp://a/b".into(), "ArgumentError", "Invalid uri, Only http(s), ftp, and file are currently supported"),
    ] {
        machine.fails(&remote("/srv/x", json!({ "source": [source] })), class, message);
    }
    let host = json!({ "source": server.url("/file"), "headers": { "Host": "internal" } });
    machine.fails(&remote("/srv/x", host), "ArgumentError", "Host");
    let split = json!({ "source": server.url("/file"), "headers": { "X": "a\r\nHost: b" } });
    machine.fails(&remote("/srv/x", split), "ArgumentError", "");
    let unverified = json!({ "source": "https://127.0.0.1/", "ssl_verify_mode": "verify_none" });
    machine.fails(&remote("/srv/x", unverified), "OpenSSL::SSL::SSLError", "checksum");
    assert!(machine.names("/srv").is_empty());
    let mirrors = json!({ "source": [server.url("/none"), format!("http://{dead}/"), server.url("/here")] });
    machine.run(&remote("/srv/x", mirrors)).unwrap();
    assert_eq!(machine.read("/srv/x"), "content");
}

#[test]
fn files_of_the_node_itself() {
    let mut machine = Machine::open();
    machine.write("/etc/a b", "source");
    machine.run(&remote("/srv/x", json!({ "source": "file:///etc/a%20b" }))).unwrap();
    assert_eq!(machine.read("/srv/x"), "source");
    let mut machine = Machine::granted("paths = [\"/srv/**\"]\nread_paths = [\"/tmp/**\"]");
    machine.write("/etc/shadow", "secret");
    machine.write("/tmp/open", "open");
    machine.run(&remote("/srv/x", json!({ "source": "file:///tmp/open" }))).unwrap();
    machine.denies(&remote("/srv/y", json!({ "source": "file:///etc/shadow" })));
    machine.denies(&remote("/srv/y", json!({ "source": "file:///tmp/../etc/shadow" })));
    std::os::unix::fs::symlink("/etc/shadow", machine.at("/tmp/link")).unwrap();
    machine.denies(&remote("/srv/y", json!({ "source": "file:///tmp/link" })));
    machine.fails(&remote("/srv/y", json!({ "source": "file:///tmp" })), "Errno::EISDIR", "/tmp");
    assert_eq!(machine.names("/srv"), ["x"]);
}

#[test]
fn only_granted_servers_are_asked_wherever_redirects_lead() {
    let (granted, other) = (site(), site());
    let port = granted.url("");
    let hop = other.url("/file");
    let bouncer = Server::start(move |request: &Request| match request.path.as_str() {
        "/good" => answer("301 Moved Permanently", &[("location", &format!("{port}/agent"))], b""),
        "/shadow" => answer("302 Found", &[("location", "file:///etc/shadow")], b""),
        _ => answer("307 Temporary Redirect", &[("location", &hop)], b""),
    });
    let lines = format!(
        "paths = [\"/srv/**\"]\nread_paths = [\"/etc/**\"]\ndownload_hosts = [\"{}\", \"{}\"]",
        granted.url(""),
        bouncer.url("")
    );
    let mut machine = Machine::granted(&lines);
    let with = |url: String| json!({ "source": [url], "headers": { "X-Token": "shared", "Authorization": "Basic secret", "Cookie": "c=1" } });
    machine.run(&remote("/srv/x", with(granted.url("/here")))).unwrap();
    assert_eq!(granted.requests().pop().unwrap().field("authorization"), Some("Basic secret"), "the same server");
    machine.run(&remote("/srv/y", with(bouncer.url("/good")))).unwrap();
    let last = granted.requests().pop().unwrap();
    assert_eq!(
        (last.field("x-token"), last.field("authorization"), last.field("cookie")),
        (Some("shared"), None, None)
    );
    machine.denies(&remote("/srv/z", with(bouncer.url("/elsewhere"))));
    machine.denies(&remote("/srv/z", with(bouncer.url("/shadow"))));
    machine.denies(&remote("/srv/z", with(other.url("/file"))));
    machine.denies(&remote("/etc/z", with(granted.url("/file"))));
    assert!(other.requests().is_empty(), "it was never spoken to");
    assert_eq!(machine.names("/srv"), ["x", "y"]);
}

#[test]
fn a_dry_run_looks_and_leaves_nothing_behind() {
    let (server, mut machine) = (site(), Machine::dry());
    let plan = machine.plan(&remote("/srv/x", json!({ "source": server.url("/etag") }))).unwrap();
    assert_eq!(plan.changes.len(), 2);
    assert_eq!(plan.certainty, Vec::<Certainty>::new());
    assert!(machine.names("/srv").is_empty() && !machine.beside("cache").exists());
}

#[test]
fn a_dry_run_does_not_know_what_a_server_that_does_not_answer_would_send() {
    let (server, mut machine) = (site(), Machine::dry());
    let closed = specs::ClosedPort::new().unwrap();
    let gone = closed.address().unwrap();
    let asked = remote("/srv/x", json!({ "source": format!("http://{gone}/file") }));
    let plan = machine.plan(&asked).unwrap();
    assert!(plan.changes.is_empty());
    let [Certainty::Unknown(why)] = plan.certainty.as_slice() else { panic!("{plan:?}") };
    assert!(
        why.contains("what /srv/x would hold is not known") && why.matches("Connection refused").count() == 1,
        "{why}"
    );
    // The file is taken for granted by what comes later.
    let later = machine.plan(&resource("link", "/srv/y", "create", json!({ "to": "/srv/x", "link_type": "hard" })));
    assert!(later.is_ok(), "{later:?}");
    let short = machine.plan(&remote("/srv/x", json!({ "source": server.url("/short") }))).unwrap();
    assert!(matches!(short.certainty.as_slice(), [Certainty::Unknown(_)]), "{short:?}");
    // A server that answers, and says no, says what a real run would fail of.
    for address in ["/none", "/broken"] {
        assert!(machine.plan(&remote("/srv/z", json!({ "source": server.url(address) }))).is_err(), "{address}");
    }
    let mut real = Machine::open();
    assert_eq!(real.run(&asked).unwrap_err().class(), "Errno::ECONNREFUSED");
}
