//! `http_request`, to a server on the loopback interface.

use crate::server::Server;
use crate::support::Bench;
use serde_json::json;

fn server() -> Server {
    Server::start(|request| match request.path.as_str() {
        "/unchanged" => b"304 Not Modified\r\nconnection: close\r\n\r\n".to_vec(),
        "/absent" => b"404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
        "/broken" => b"500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
        _ => b"200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".to_vec(),
    })
}

#[test]
fn requests_are_sent_each_time() {
    let (bench, server) = (Bench::whole("").unlimited(), server());
    for action in ["get", "patch", "put", "post", "delete"] {
        let properties = json!({"url": server.url("/x"), "headers": {"X-Key": "value"}, "message": {"a": [1]}});
        let done = bench.run("http_request", "call", action, properties).unwrap();
        let expect = format!("http_request[call] {} to {}", action.to_uppercase(), server.url("/x"));
        assert_eq!(done.sentences(), [expect]);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|request| request.field("x-key") == Some("value")));
    let lengths: Vec<_> = requests.iter().map(|request| request.field("content-length")).collect();
    assert_eq!(lengths, [None, Some("9"), Some("9"), Some("9"), None]);
    bench.run("http_request", "the name", "put", json!({"url": server.url("/x")})).unwrap();
    assert_eq!(server.requests().last().unwrap().field("content-length"), Some("8"));
}

#[test]
fn head_is_a_question() {
    let (bench, server) = (Bench::whole("").unlimited(), server());
    let done = bench.run("http_request", "q", "head", json!({"url": server.url("/x")})).unwrap();
    let expect = format!("http_request[q] HEAD to {} returned modified, trigger notifications", server.url("/x"));
    assert_eq!(done.sentences(), [expect]);
    assert!(!bench.run("http_request", "q", "head", json!({"url": server.url("/unchanged")})).unwrap().updated);
    assert!(bench.why_run("http_request", "q", "head", json!({"url": server.url("/x")})).unwrap().updated);
    let before = server.requests().len();
    assert!(bench.why_run("http_request", "q", "get", json!({"url": server.url("/x")})).unwrap().updated);
    assert_eq!(server.requests().len(), before, "a dry run asks, and sends nothing");
}

#[test]
fn failures_have_rubys_classes() {
    let (bench, server) = (Bench::whole("").unlimited(), server());
    for (path, class) in [("/absent", "Net::HTTPClientException"), ("/broken", "Net::HTTPFatalError")] {
        for action in ["get", "head", "post"] {
            let raised = bench.run("http_request", "q", action, json!({"url": server.url(path)})).unwrap_err();
            assert_eq!(raised.class(), class, "{path} {action}");
        }
    }
    assert!(bench.run("http_request", "q", "get", json!({})).is_err());
}

#[test]
fn only_granted_servers_are_asked() {
    let server = server();
    let bench = Bench::whole("download_hosts = [\"https://example.org\"]");
    for action in ["get", "head"] {
        let raised = bench.run("http_request", "q", action, json!({"url": server.url("/x")})).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{action}");
    }
    assert_eq!(server.requests().len(), 0);
    let granted = Bench::whole(&format!("download_hosts = [\"{}\"]", server.url("")));
    granted.run("http_request", "q", "get", json!({"url": server.url("/x")})).unwrap();
}
