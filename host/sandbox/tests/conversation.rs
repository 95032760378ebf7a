//! Tests all functions of the contract, and guests that violate the protocol.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it counted"
)]

mod support;

use std::collections::BTreeMap;
use support::{Guest, Ran, run};

/// The log's lines of level info, without their level.
fn said(ran: &Ran) -> Vec<&str> {
    ran.heard.iter().filter_map(|line| line.strip_prefix("info: ")).collect()
}

#[track_caller]
fn check(recipes: &[&str], expected: &[&str]) -> Ran {
    let ran = run(vec![Guest::new("everything", recipes)], false);
    assert_eq!(ran.failure("everything"), "", "{:#?}", ran.heard);
    assert_eq!(said(&ran), expected);
    ran
}

#[test]
fn recipes_include_recipes() {
    check(
        &["default", "included"],
        &["default: begins", "included once", "default: Chef::Exceptions::RecipeNotFound", "default: ends"],
    );
}

#[test]
fn attributes() {
    let ran = check(
        &["node"],
        &[
            r#"merged: {"b":3,"list":[1,2],"c":2}"#,
            "unless: false",
            "strict: Chef::Exceptions::AttributeTypeMismatch",
            "lazy: 5",
            "list: Some(Number(9)) false",
            "levels: default=3 override=4",
            "removed: Some(Number(3))",
            "removed default: Some(Number(2))",
            "removed normal: Some(Bool(true))",
            r#"removed override: Some(String("yes"))"#,
            "gone: true",
            r#"shape: Ok(Some(Shape::Object(["name", "base", "late"])))"#,
            "version grew: true",
            "name: node, recipes: everything::node",
            r#"typed: "demo" true"#,
            "platform: true",
        ],
    );
    assert!(ran.done.is_empty());
    // The guest cannot compute the lazy value later, so the saved node contains its result.
    let saved = ran.node.to_saved_json(&Default::default()).unwrap();
    assert_eq!(saved["default"]["everything"]["late"], 5, "{saved:#}");
}

#[test]
fn facts_that_are_hidden_are_refused_or_nothing_and_are_recorded() {
    let ran = check(
        &["hidden"],
        &[
            "whole: Wrun::Denied Wrun::Denied",
            r#"part: Some(Object {"open": Number(1)}) Wrun::Denied"#,
            "open: Some(Number(1))",
            "as nothing: None",
            "asked: false true",
            "not there: None None",
            r#"kept partly: Ok(Kept::Open(Value::Plain("{\"open\":1}")))"#,
            "kept hidden: Ok(Kept::Hidden)",
            "kept nothing: Ok(Kept::Absent)",
            r#"kept platform: Ok(Kept::Whole(Value::Plain("\"debian\"")))"#,
            "debug: true",
        ],
    );
    let reads = &ran.report.policies[0].reads;
    let hidden: Vec<_> = reads.hidden.iter().map(|read| (read.shown(), read.partly, read.refused)).collect();
    let expect = [
        ("hidden", false, true),
        ("hidden.a", false, true),
        ("partly", true, false),
        ("partly.closed", false, true),
        ("quiet", false, false),
        ("hidden.deep.down", false, false),
        ("hidden.b", false, true),
    ];
    assert_eq!(hidden, expect.map(|(path, partly, refused)| (path.to_owned(), partly, refused)));
    // Each names the place that asked first, and how it could be granted.
    let first = &reads.hidden[0];
    assert_eq!((first.origin.file.as_deref(), first.grant.as_str()), (Some("src/outside.rs"), r#"fact = ["hidden"]"#));
    // Seen or not, the facts that were read are in the list, and nothing that the machine does not have.
    let facts: Vec<_> = reads.facts.iter().map(|path| path.join(".")).collect();
    let expect = [
        "hidden",
        "hidden.a",
        "hidden.b",
        "hidden.deep.down",
        "partly",
        "partly.closed",
        "partly.open",
        "platform",
        "quiet",
    ];
    assert_eq!(facts, expect);
}

#[test]
fn the_machine() {
    // The host reports each change before the guest logs its own line.
    let expected = [
        "exists: true false",
        r#"read: "node\n""#,
        r#"list: ["hostname", "link"]"#,
        r#"link: Some("/srv") None"#,
        r#"real: Ok("/srv")"#,
        r#"run: Some(0) "hello\n""#,
        "denied: Wrun::Denied",
        "denied at: everything/src/outside.rs, and a line",
        "Write([120], 420) /tmp/thing",
        "apply Change::Write: done",
        "Append([121], 420) /tmp/thing",
        "apply Change::Append: done",
        "MakeDirectory(493) /tmp/thing",
        "apply Change::MakeDirectory: done",
        "apply Change::Link: refused",
        r#"Rename("/tmp/other") /tmp/thing"#,
        "apply Change::Rename: done",
        "Remove /tmp/thing",
        "apply Change::Remove: done",
        "RemoveDirectory /tmp/thing",
        "apply Change::RemoveDirectory: done",
        "Mode(384) /tmp/thing",
        "apply Change::Mode: done",
        "Owner(Some(0), None) /tmp/thing",
        "apply Change::Owner: done",
        "Times(1, 2) /tmp/thing",
        "apply Change::Times: done",
        "Remove /tmp/thing",
        "apply at a place: done",
        r#"environment: Some("C.UTF-8") None"#,
        "users: 1, groups: 1",
        "http: Ok(204)",
    ];
    let ran = check(&["machine"], &expected);
    // The place that the guest gives is cut to the maximum length. Without a place, the host knows only the policy.
    let writes = &ran.report.policies[0].writes;
    let places: Vec<_> = writes.iter().map(|write| (write.path.as_str(), write.origin.cookbook.as_deref())).collect();
    assert_eq!((places.first(), places.len()), (Some(&("/tmp/thing", None)), 10), "{writes:#?}");
    let last = &writes.last().unwrap().origin;
    assert_eq!(
        (last.policy.as_str(), last.cookbook.as_deref(), last.line),
        ("everything", Some("everything"), Some(7))
    );
    assert!(last.file.as_ref().unwrap().len() < 1_024, "{last}");
    // In a dry run a command is refused, and the cookbook does not catch it.
    let dry = run(vec![Guest::new("everything", &["machine"])], true);
    assert!(dry.failure("everything").contains("echo"), "{}", dry.failure("everything"));
}

#[test]
fn data() {
    check(
        &["data"],
        &[
            r#"bags: ["keys", "users"]"#,
            r#"bag: ["ada"]"#,
            r#"item: {"id":"ada"}"#,
            r#"secret: Err(DataError::Denied("bag_secret is not granted"))"#,
            r#"role: {"name":"web"}"#,
            r#"environment: {"name":"production"}"#,
            r#"search: [Object {"name": String("node")}]"#,
            "missing: Wrun::NotFound",
        ],
    );
}

#[test]
fn files_schema_clock_and_chance() {
    let ran = run(vec![Guest::new("everything", &["misc"])], false);
    assert_eq!(ran.failure("everything"), "");
    let said = said(&ran);
    let (before, clock) = said.split_at(7);
    assert_eq!(
        before,
        [
            r#"cookbooks: [("everything", "1.0.0")]"#,
            r#"paths: Ok(["templates/greeting.j2", "templates/part.j2"])"#,
            "file: Ok([112, 108, 97, 105, 110, 10])",
            r#"located: Ok("files/default/plain.txt")"#,
            "nowhere: true",
            "types: true",
            "schema: true",
        ]
    );
    // The real time, which is granted here.
    assert!(!clock[0].contains("1700000000"), "{clock:?}");
    assert_eq!(
        clock[1..],
        ["monotonic: true", r#"zone: ZoneOffset { seconds: 3600, name: "CET" }"#, "random: Some(4)"]
    );
    assert!(["debug: debug", "warn: warn", "error: error"].iter().all(|line| ran.heard.iter().any(|it| it == line)));
}

#[test]
fn the_collection() {
    let ran = check(
        &["collection"],
        &[
            "tool updated: true",
            "retracted: None",
            "marked: Some((true, true))",
            "resources: 10",
            r#"described: Some(("service", "web"))"#,
            r#"content: "amended""#,
            "unknown type: NoMethodError",
            "staged at /staged",
        ],
    );
    let expected = [
        "install package[tool]",
        r#"create file[/etc/motd] = "made late""#,
        r"create file[/etc/bytes] = \x00\x9f",
        r"create template[/etc/greeting] = # a part\nhello, demo\n",
        "create file[/etc/before]",
        r#"create file[/etc/last] = "amended""#,
        "create_if_missing file[/etc/changed]",
        "restart service[web]",
        "create file[/etc/subscriber]",
        "reload service[web]",
        "create directory[/srv/late]",
    ];
    let mut done: Vec<_> = ran.done.iter().map(String::as_str).collect();
    let mut wanted = expected.to_vec();
    // The order of the delayed ones is the vectors' affair.
    done[7..].sort_unstable();
    wanted[7..].sort_unstable();
    assert_eq!(done, wanted);
    assert!(ran.due.is_empty());
}

#[test]
fn actions_of_guests() {
    // A dry run continues after a failed child. The action gets no error, ends, and then fails because of the child.
    let shop = |why_run: bool| {
        [
            "shop: begins, /srv/shop, port 8080, https".to_owned(),
            "shop: directory updated true".into(),
            format!("shop: rescued {}", if why_run { "nothing" } else { "Guest::Error" }),
            "shop: ends".into(),
        ]
    };
    for why_run in [false, true] {
        let ran = run(vec![Guest::new("everything", &["actions"])], why_run);
        let failure = ran.failure("everything");
        match why_run {
            true => assert!(
                failure.contains("directory[/srv/raises]") && failure.ends_with("Guest::Error: no"),
                "{failure}"
            ),
            false => assert_eq!(failure, "", "{:#?}", ran.heard),
        }
        let block: &[String] = if why_run { &[] } else { &["block: ran".into()] };
        let expected = [
            &["wrong type: Chef::Exceptions::ValidationFailed".into(), "restarter: Guest::Error".into()][..],
            &shop(why_run),
            &["archive: compiled".into()],
            block,
            &[
                "limit files: was Some(4), differs true".into(),
                format!("limit same: was Some({}), differs {why_run}", if why_run { 4 } else { 8 }),
            ],
        ];
        assert_eq!(said(&ran), expected.concat(), "why-run {why_run}");
        let done = [
            "create directory[/probe]",
            r#"create file[/etc/guarded] = "x""#,
            "create directory[/stop]",
            "stop service[inner]",
            "create directory[/start]",
            "create directory[/srv/shop]",
            "create directory[/srv/archive]",
            "reload service[web]",
        ];
        assert_eq!(ran.done, if why_run { &[][..] } else { &done[..] });
    }
}

#[test]
fn handlers_hear_the_run() {
    let ran = check(
        &["handlers", "collection"],
        &[
            "unknown event: ArgumentError",
            r#"event: "package"["tool"]"#,
            "tool updated: true",
            "retracted: None",
            "marked: Some((true, true))",
            "resources: 10",
            r#"described: Some(("service", "web"))"#,
            r#"content: "amended""#,
            "unknown type: NoMethodError",
            "staged at /staged",
            r#"event: "file"["/etc/motd"]"#,
            r#"event: "file"["/etc/bytes"]"#,
            r#"event: "template"["/etc/greeting"]"#,
            // The trial that `:before` needs is an event too, as in Chef.
            r#"event: "file"["/etc/last"]"#,
            r#"event: "file"["/etc/before"]"#,
            r#"event: "file"["/etc/last"]"#,
            r#"event: "file"["/etc/changed"]"#,
            r#"event: "directory"["/srv/late"]"#,
            r#"event: "service"["web"]"#,
            r#"event: "file"["/etc/subscriber"]"#,
            r#"event: "service"["web"]"#,
            "report",
        ],
    );
    assert!(ran.due.is_empty());
}

/// Handlers of a policy that ended well hear of a later policy's failure.
#[test]
fn handlers_outlive_their_policy() {
    let failing = Guest::new("hostile", &["panic"]);
    let ran = run(vec![Guest::new("everything", &["handlers"]), failing], false);
    assert_eq!(ran.failure("everything"), "");
    assert!(ran.heard.iter().any(|line| line.starts_with("info: exception: ")), "{:?}", ran.heard);
}

/// Runs a guest that violates the protocol in one way, and another policy after it.
fn lie(lie: &str, why_run: bool) -> Ran {
    let liar = Guest::new("liar", &["default"]).with("lie", lie);
    run(vec![liar, Guest::new("everything", &["default"])], why_run)
}

#[track_caller]
fn check_lie(name: &str, expected: &str) {
    let ran = lie(name, false);
    let late = ["errand-first", "before-ready", "answer-first"].contains(&name);
    let handlers = ran.heard.iter().filter(|line| late && line.starts_with("handler report failed"));
    let failure = handlers.fold(ran.failure("liar"), |all, line| all + line);
    if expected.is_empty() {
        assert_eq!(failure, "", "{name}");
    } else {
        assert!(failure.contains(expected), "{name}: {failure}");
    }
    // The other policy runs as usual.
    assert_eq!(ran.failure("everything"), "", "{name}");
    assert!(said(&ran).contains(&"default: ends"), "{name}");
    // Queued actions that need no guest code still ran.
    assert!(ran.done.iter().any(|line| line == "write log[service]"), "{name}: {:?}", ran.done);
}

#[test]
fn lies() {
    let lost = |why: &str| format!("policy `liar` {why}");
    for (name, expected) in [
        ("none", String::new()),
        ("errand-first", lost("spoke before it was ready")),
        ("answer-first", lost("spoke before it was ready")),
        ("before-ready", lost("spoke before it was ready")),
        ("ready-again", lost("said that it is ready twice")),
        ("return", lost("left its loop before it was told to")),
        ("after-done", lost("spoke after it was told that all is done")),
        ("declare-after-done", lost("spoke after it was told that all is done")),
        ("wrong-number", "while request".into()),
        ("early", "while request".into()),
        ("no-value", "an answer of the wrong kind".into()),
        ("value-for-act", "an answer of the wrong kind".into()),
        ("not-json", "a value that is not JSON: EOF while parsing an object".into()),
        ("deep-json", "a value that is not JSON: recursion limit exceeded".into()),
        ("trap", lost("trapped: wasm trap: wasm `unreachable` instruction executed (`exit` and `abort` of ")),
        ("trap-nested", lost("trapped: wasm trap: wasm `unreachable` instruction executed")),
        ("spin", lost("used up its 0.5 s of processor time")),
        ("spin-nested", lost("used up its 0.5 s of processor time")),
        ("deep", "nest[second]".into()),
        ("many-errands", lost("used up its 0.5 s of processor time")),
        ("wrong-resource", "1000000".into()),
        ("wrong-leave", "context 0".into()),
        ("wrong-abandon", "context 4000000".into()),
        // The second attempt counts as included, as in Chef.
        ("wrong-recipe", String::new()),
        ("wrong-enter", "context 0".into()),
        ("wrong-observed", "nest[second]".into()),
        ("wrong-mark", "nest[second]".into()),
    ] {
        check_lie(name, &expected);
    }
}

/// Runs guests that send random messages. They must not panic the host, keep it busy for ever, or affect the next policy.
#[test]
fn chaos() {
    let mut ends = BTreeMap::<String, u32>::new();
    for seed in 1..=150 {
        let ran = lie(&format!("chaos {seed}"), seed % 2 == 0);
        assert_eq!(ran.failure("everything"), "", "{seed}");
        let end: String = ran.failure("liar").chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
        *ends.entry(end).or_default() += 1;
    }
    // They must not all end in the same way, or the test tests one thing only.
    assert!(ends.len() > 3, "{ends:#?}");
}
