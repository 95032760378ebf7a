//! Tests of the settings, from text to the final values.

use super::values::HandlerMoment;
use super::*;

fn environment(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn file(text: &str) -> Layer {
    parse_file(Path::new("wrun.toml"), text).unwrap()
}

fn example() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wrun.toml");
    std::fs::read_to_string(path).unwrap()
}

/// Returns the example file with its commented settings enabled. Explanations have a space after the `#`; settings do not.
fn uncommented() -> String {
    let lines = example();
    let lines = lines.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_changes_nothing_and_explains_every_key() {
    let commented = file(&example());
    assert_eq!(commented, Layer::default(), "everything in the example is a comment");
    let table: toml::Table = uncommented().parse().unwrap();
    let mut explained: Vec<&str> = table.keys().map(String::as_str).collect();
    let mut keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    explained.sort_unstable();
    keys.sort_unstable();
    assert_eq!(explained, keys);
    for (key, variable) in KEYS {
        assert_eq!(*variable, format!("WRUN_{}", key.to_uppercase()));
    }
    // The defaults in the example must be the real defaults.
    let shown = Settings::complete(file(&uncommented()));
    let default = Settings::complete(Layer::default());
    let without_examples = Settings {
        policy_names: default.policy_names.clone(),
        policy_groups: BTreeMap::new(),
        handlers: vec![],
        reports: vec![],
        skip_unchanged: None,
        chef_server: None,
        run: assemble::Settings {
            repository: None,
            policy_group: None,
            node_name: None,
            data_bags: None,
            roles: None,
            environments: None,
            encrypted_data_bag_secret: None,
            runtime_dir: None,
            ruby_library: None,
            saved_attributes: SavedFilters::default(),
            group_layers: BTreeMap::new(),
            ..shown.run
        },
        ..shown
    };
    assert_eq!(without_examples, default);
}

#[test]
fn each_setting_is_shown_with_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrun.toml");
    std::fs::write(&file, "# ours\nroot = \"/r\"\nstate_dir = \"/s\"\nhandlers = []\n").unwrap();
    let sources = Sources {
        flags: Layer { state_dir: Some("/flag".into()), ..Layer::default() },
        environment: environment(&[("WRUN_STATE_DIR", "/e"), ("WRUN_BACKUPS", "7")]),
        file: file.clone(),
        must_exist: true,
    };
    let (settings, is_there) = sources.shown().unwrap();
    assert!(is_there);
    let check = |key: &str, value: serde_json::Value, source: &str| {
        let setting = settings.iter().find(|setting| setting.key == key).unwrap();
        assert_eq!((&setting.value, setting.source.as_str()), (&value, source), "{key}");
    };
    check("root", "/r".into(), &format!("{}:2", file.display()));
    check("state_dir", "/flag".into(), "--state-dir");
    check("backups", 7.into(), "WRUN_BACKUPS");
    check("backup_dir", "/flag/backup".into(), "default");
    check("data_bags", serde_json::Value::Null, "default");
    assert_eq!(settings.len(), KEYS.len());
    // The displayed defaults must equal those in the documented example.
    let example: toml::Table = uncommented().parse().unwrap();
    for (key, value) in shown::defaults(&Settings::complete(Layer::default())) {
        assert_eq!(serde_json::to_value(&example[&key]).unwrap(), value, "{key}");
    }
}

#[test]
fn a_policy_may_name_its_group() {
    let settings =
        Settings::complete(file("policy_name = \"core@prod, web\"\nstale_after = \"30d\"\nrepository = \"/r\""));
    assert_eq!(settings.policy_names, ["core", "web"]);
    assert_eq!(settings.policy_groups, BTreeMap::from([("core".to_owned(), "prod".to_owned())]));
    let repository = settings.run.repository.unwrap();
    assert_eq!(repository.stale_after, Some(Duration::from_secs(30 * 24 * 60 * 60)));
    for wrong in
        ["policy_name = \"core@prod,core\"", "policy_name = \"a@b@c\"", "policy_name = \"a@\"", "stale_after = \"30x\""]
    {
        assert!(parse_file(Path::new("wrun.toml"), wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_variable_that_nobody_reads_is_an_error() {
    let check = |variable: &str| {
        let error = own_variables([(variable.into(), "1".into())].into_iter()).unwrap_err();
        error.to_string()
    };
    let near = "there is no variable WRUN_LOCK_TIMEOT; did you mean WRUN_LOCK_TIMEOUT?";
    assert_eq!(check("WRUN_LOCK_TIMEOT"), near);
    assert_eq!(check("WRUN_SOMETHING_ELSE_ENTIRELY"), "there is no variable WRUN_SOMETHING_ELSE_ENTIRELY");
    for other in ["WRUN_CONFIG", "WRUN_SDK_PATH", "WRUN_GUEST_COMPILER", "WRUN_PROGRAM", "OTHER_ROOT"] {
        assert!(own_variables([(other.into(), "1".into())].into_iter()).is_ok(), "{other}");
    }
}

#[test]
fn flags_beat_variables_beat_the_file() {
    let text = "policy_name = [\"a\", \"b\"]\nroot = \"/file\"\nbackups = 1\nkeep_going = true\nformat = \"minimal\"";
    let variables = environment(&[
        ("WRUN_ROOT", "/variable"),
        ("WRUN_BACKUPS", "2"),
        ("WRUN_FORMAT", ""),
        ("WRUN_KEEP_GOING", "false"),
        ("WRUN_POLICY_NAME", "c, d"),
        ("WRUN_VECTORS", "not ours"),
    ]);
    let flags = Layer { backups: Some("3".parse().unwrap()), ..Layer::default() };
    let settings = resolve(flags, &variables, file(text)).unwrap();
    assert_eq!(settings.policy_names, ["c", "d"]);
    assert_eq!(settings.run.root, Path::new("/variable"));
    assert_eq!(settings.run.backups, 3);
    assert_eq!(settings.format, Format::Minimal, "an empty variable says nothing");
    assert!(!settings.run.keep_going);
    assert_eq!(settings.run.state_dir, Path::new(state::DEFAULT_PATH));
    assert_eq!(settings.run.lock_timeout, Duration::from_secs(300));
}

#[test]
fn backups_follow_the_state_directory() {
    let settings = resolve(Layer::default(), &environment(&[("WRUN_STATE_DIR", "/s")]), Layer::default()).unwrap();
    assert_eq!(settings.run.backup_dir, Path::new("/s/backup"));
}

#[track_caller]
fn check_file(text: &str, expect: &str) {
    let error = parse_file(Path::new("/etc/wrun/wrun.toml"), text).unwrap_err().to_string();
    assert!(error.starts_with(&format!("/etc/wrun/wrun.toml:{expect}")), "{error}");
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line() {
    check_file("\n\npolicy_nam = \"a\"", "3: unknown key `policy_nam`; did you mean `policy_name`?");
    check_file("root = ", "1: ");
    check_file("keep_going = true\nstate_dir = \"state\"", "2: `state_dir` is an absolute path; state is not");
    check_file("policy_name = [\"a\"\nroot = \"/\"", "1: the list that begins here is not closed before line 2");
    check_file("\nroot = 3", "2: this must be a path, as text, not integer `3`");
    check_file("node_name = \"a b\"", "1: \"a b\" cannot be a node's name");
    check_file("node_name = \"..\"", "1: \"..\" cannot be a node's name");
    check_file("# x\nformat = \"xml\"", "2: \"xml\" is not one of doc, minimal, json");
    check_file("log_location = \"syslog\"", "1: \"syslog\" is neither stderr nor journald nor the path of a file");
    check_file("lock_timeout = 100000", "1: \"100000\" is more than 1d");
    check_file("lock_timeout = -1", "1: \"-1\" is not a time such as");
    check_file("policy_name = [\"a\", \"a\"]", "1: policy \"a\" is named twice");
    check_file("policy_name = \"a,../b\"", "1: \"../b\" cannot be a policy's name");
    check_file("policy_name = 3", "1: expected a list of names, or one text with commas");
    check_file("allowed_normal_attributes = [1]", "1: a saved attribute item must be text or an array of texts");
    check_file("keep_going = true\nkeep_going = true", "2: duplicate key");
    check_file("backups = \"3\"", "1: this must be a whole number, not string \"3\"");
    check_file("[[handlers]]\non = [\"start\"]\ncommand = []", "3: a handler's `command` begins with the program");
    check_file("[[handlers]]\non = [\"start\"]\ncommand = [\"\"]", "3: a handler's `command` begins with the program");
    check_file("[[handlers]]\non = [\"end\"]\ncommand = []", "2: \"end\" is not one of start, report, exception");
}

#[test]
fn variables_of_ours_are_text() {
    use std::os::unix::ffi::OsStringExt as _;
    let odd = || OsString::from_vec(b"a\xff".to_vec());
    let other = own_variables([("HOME".into(), odd()), ("WRUN_ROOT".into(), "/r".into())].into_iter()).unwrap();
    assert_eq!(other, environment(&[("WRUN_ROOT", "/r")]));
    let error = own_variables([("WRUN_ROOT".into(), odd())].into_iter()).unwrap_err().to_string();
    assert!(error.starts_with("the variable WRUN_ROOT is not UTF-8: a"), "{error}");
}

#[test]
fn mistakes_in_variables_are_told_with_their_name() {
    let check = |variable: &str, value: &str, expect: &str| {
        let error = resolve(Layer::default(), &environment(&[(variable, value)]), Layer::default()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with(&format!("the variable {variable} is {value:?}: ")) && error.contains(expect),
            "{error}"
        );
    };
    check("WRUN_NODE_NAME", "a/b", "cannot be a node's name");
    check("WRUN_KEEP_GOING", "yes", "was not `true` or `false`");
    check("WRUN_GUEST_MEMORY_MIB", "0", "0 is not between 1 and 65536");
    check("WRUN_GUEST_SECONDS", "soon", "is not a time such as 30d, 12h");
    check("WRUN_COLOR", "red", "not one of auto, always, never");
    check("WRUN_POLICY_NAME", "a,,b", "\"\" cannot be a policy's name");
    check("WRUN_HANDLERS", "x", "expected value");
}

#[test]
fn the_file_may_be_missing_unless_it_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrun.toml");
    assert_eq!(read_file(&path, false).unwrap(), Layer::default());
    assert!(matches!(read_file(&path, true).unwrap_err(), SettingsError::Read { .. }));
    std::fs::write(&path, "node_name = \"n:1\"").unwrap();
    assert_eq!(read_file(&path, true).unwrap().node_name.unwrap().as_str(), "n:1");
    std::fs::write(&path, "#".repeat(2 << 20)).unwrap();
    assert!(matches!(read_file(&path, true).unwrap_err(), SettingsError::TooLarge { .. }));

    let named = environment(&[(FILE_VARIABLE, "/v.toml")]);
    assert_eq!(file_to_read(Some(Path::new("/f.toml")), &named), ("/f.toml".into(), true));
    assert_eq!(file_to_read(None, &named), ("/v.toml".into(), true));
    assert_eq!(file_to_read(None, &BTreeMap::new()), (DEFAULT_FILE.into(), false));
}

#[test]
fn saved_attributes_are_paths() {
    let text = "blocked_automatic_attributes = [\"network/interfaces\", [\"filesystem\", \"/dev/sda1\"]]";
    let variables = environment(&[("WRUN_ALLOWED_NORMAL_ATTRIBUTES", "a/b, c")]);
    let saved = resolve(Layer::default(), &variables, file(text)).unwrap().run.saved_attributes;
    let keys =
        |keys: &[&str]| node::saved_filter::FilterItem::from_keys(keys.iter().map(|key| (*key).to_owned()).collect());
    assert_eq!(
        saved.automatic.blocked,
        Some(vec![keys(&["network", "interfaces"]), keys(&["filesystem", "/dev/sda1"])])
    );
    assert_eq!(saved.automatic.allowed, None);
    assert_eq!(saved.normal.allowed, Some(vec![keys(&["a", "b"]), keys(&["c"])]));
}

#[test]
fn groups_have_environment_files() {
    let layers = file("[layers.prod]\nfiles = [\"/a\", \"b\"]").layers.unwrap().into_files();
    assert_eq!(layers, BTreeMap::from([("prod".to_owned(), vec!["/a".into(), "b".into()])]));
    check_file("[layers]\nprod = [\"/a\"]", "2: ");
    check_file("[layers.prod]\nfile = []", "2: ");
}

#[test]
fn handlers_are_programs() {
    let handlers = file("[[handlers]]\non = [\"report\", \"exception\"]\ncommand = [\"/bin/tell\", \"me\"]").handlers;
    let handlers = handlers.unwrap().into_list();
    assert_eq!(handlers.len(), 1);
    assert_eq!(handlers[0].on, [HandlerMoment::Report, HandlerMoment::Exception]);
    assert_eq!(handlers[0].command, ["/bin/tell", "me"]);
    assert_eq!(handlers[0].seconds.duration().as_secs(), 60);
}
