//! What a run asked for: suggestions and denials.

use super::{path, shell};
use grants::{Asker, CommandAsked, Grants, LineAsked, PolicyGrants};

#[test]
fn what_was_asked_for_becomes_a_file_that_allows_it() {
    let recorder = Grants::allow_all();
    let ask = |grants: &PolicyGrants| {
        let mut refused = vec![];
        refused.extend(grants.manage_path("/etc/cron.d/x").err());
        refused.extend(grants.manage_path("/etc/motd").err());
        refused.extend(grants.package("ntp").err());
        refused.extend(grants.command(&shell("a | b")).err());
        refused.extend(grants.command(&CommandAsked { user: Some("mysql"), ..shell("a b") }).err());
        refused.extend(grants.download("https://example.org:8443/x/y").err());
        refused.extend(grants.write_attribute(&path(&["other", "a.b"])).err());
        refused
    };
    assert_eq!(ask(&recorder.policy("data base", &[])), []);
    let text = recorder.journal().suggestion(&Default::default(), true, &Grants::nothing());
    let grants = Grants::parse(&text, "suggested").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(ask(&grants.policy("data base", &[])), [], "{text}");
    assert!(text.starts_with("[policy.\"data base\"]\n"), "{text}");
    assert!(grants.policy("data base", &[]).manage_path("/etc/shadow").is_err());
}

#[test]
fn a_suggestion_has_no_entry_that_a_wider_one_makes_needless() {
    let recorder = Grants::allow_all();
    let grants = recorder.policy("web", &["site".into()]);
    for keys in [&["acme", "web", "port"][..], &["acme"], &["acme", "motd"], &["site", "x"]] {
        let _proof = grants.write_attribute(&path(keys)).unwrap();
    }
    let _proof = grants.data_bag("admins", Some("ada")).unwrap();
    let _proof = grants.data_bag("admins", None).unwrap();
    let _proof = grants.data_bag("keys", Some("one")).unwrap();
    let _proof = grants.manage_path("/srv/a").unwrap();
    let _proof = grants.read_path("/srv/a").unwrap();
    let _proof = grants.read_path("/srv/b").unwrap();
    let _tree = grants.manage_tree("/srv/t").unwrap();
    let _proof = grants.manage_path("/srv/t/.ssh").unwrap();
    let _proof = grants.manage_path("/srv/t/x").unwrap();
    let _tree = grants.manage_tree("/etc").unwrap();
    let _proof = grants.repository("https://example.org/team/a.git").unwrap();
    let expect = "[policy.web]\ndata_bags = [\"admins\", \"keys/one\"]\ndownload_hosts = [\"https://example.org\"]\n\
        paths = [\"/etc\", \"/srv/a\", \"/srv/t/**\", \"/srv/t/.ssh\"]\nprivileged_paths = [\"/etc/**\"]\n\
        read_paths = [\"/srv/b\"]\nwrite_attributes = [\"acme\"]\n";
    let suggestion = recorder.journal().suggestion(&Default::default(), true, &Grants::nothing());
    let lines = suggestion.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.map(|line| format!("{line}\n")).collect::<String>(), expect);
}

#[test]
fn what_only_other_actions_would_need_is_a_comment() {
    let recorder = Grants::allow_all();
    let grants = recorder.policy("web", &[]);
    let _proof = grants.service("a").unwrap();
    let _proof = grants.manage_path("/srv/a").unwrap();
    recorder.journal().looks_at_others(true);
    let _proof = grants.service("a").unwrap();
    let _proof = grants.command(&shell("service a restart")).unwrap();
    let _proof = grants.manage_tree("/srv/a").unwrap();
    recorder.journal().looks_at_others(false);
    let secret = CommandAsked { sensitive: true, ..shell("echo secret") };
    let _proof = grants.command(&secret).unwrap();
    let expect = "[policy.web]\ncommands = [\"echo secret\"]\npaths = [\"/srv/a\"]\nservices = [\"a\"]\n\
        # Only actions of these resources that no recipe asks for now (restart,\n# stop, delete ..) would need:\n\
        # commands = [\"service a restart\"]\n# paths = [\"/srv/a/**\"]\n";
    assert_eq!(recorder.journal().suggestion(&Default::default(), true, &Grants::nothing()), expect);
    // What a run keeps has neither.
    let asked = recorder.journal().asked();
    assert_eq!(asked[0].1.keys().collect::<Vec<_>>(), ["paths", "services"]);
    assert!(!asked[0].2, "something is left out");
}

#[test]
fn entries_for_names_with_signs_allow_what_was_asked_for() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let commands = [words(&["sh", "<rest>"]), words(&["sh", "-c", "<any>"]), words(&["cat", "<path:/**>"])];
    let ask = |grants: &Grants| {
        let policy = grants.policy("web", &[]);
        let paths = ["/srv/a*b", "/**", "/srv/a?"].map(|path| policy.manage_path(path).is_ok());
        let trees = ["/srv/a*", "/srv/**"].map(|path| policy.manage_tree(path).is_ok());
        let run = |words: &Vec<String>, cwd| {
            let line = LineAsked::Arguments(words);
            let (user, group, umask, input) = (None, None, None, None);
            let asked = CommandAsked { line, user, group, cwd, umask, environment: &[], input, sensitive: false };
            policy.command(&asked).is_ok()
        };
        let ran = commands.iter().map(|words| run(words, None)).chain([run(&words(&["true"]), Some("/**"))]);
        [&paths[..], &trees[..], &ran.collect::<Vec<_>>()].concat()
    };
    let recorder = Grants::allow_all();
    assert!(ask(&recorder).into_iter().all(|allowed| allowed));
    assert!(recorder.journal().asked()[0].2, "nothing is left out");
    let suggested =
        Grants::parse(&recorder.journal().suggestion(&Default::default(), true, &Grants::nothing()), "g.toml").unwrap();
    assert!(ask(&suggested).into_iter().all(|allowed| allowed));
    let grants = Grants::nothing();
    assert!(!ask(&grants).into_iter().any(|allowed| allowed));
    let (denials, _) = grants.journal().denials();
    assert!(!denials.is_empty() && denials.iter().all(|denial| denial.value.is_some()), "{denials:?}");
}

#[test]
fn what_is_kept_of_denials_is_bounded() {
    let grants = Grants::nothing();
    let policy = grants.policy("web", &[]);
    for number in 0..2_000 {
        let _denied = policy.manage_path(&format!("/srv/{number}/{}", "x".repeat(10_000))).unwrap_err();
    }
    let (denials, left_out) = grants.journal().denials();
    let bytes: usize = denials.iter().map(|one| one.message.len() + one.value.as_ref().map_or(0, String::len)).sum();
    assert!(bytes <= 256 << 10 && denials.len() + left_out == 2_000, "{bytes} {left_out}");
}

#[test]
fn a_policy_with_many_denials_takes_no_room_from_later_ones() {
    let grants = Grants::nothing();
    for (policy, long) in [("first", ""), ("second", ""), ("third", "xxxxxxxxxxxxxxxx")] {
        let policy = grants.policy(policy, &[]);
        for number in 0..400 {
            let _denied = policy.package(&format!("p{number}{}", long.repeat(64))).unwrap_err();
            let _denied = policy.package(&format!("p{number}{}", long.repeat(64))).unwrap_err();
        }
    }
    let (denials, left_out) = grants.journal().denials();
    let of = |policy: &str| denials.iter().filter(|one| one.policy == policy).count();
    assert_eq!((of("first"), of("second"), of("first") + of("second") + of("third")), (300, 300, denials.len()));
    assert!(of("third") > 50 && of("third") < 300, "its denials are long: {}", of("third"));
    assert!(left_out >= 1_200 - denials.len());
    let _denied = grants.policy("last", &[]).service("nginx").unwrap_err();
    let (denials, _) = grants.journal().denials();
    assert_eq!(denials.last().and_then(|one| one.value.as_deref()), Some("\"nginx\""));
}

#[test]
fn denials_are_kept_once_each_with_who_asked_and_the_entry_that_would_allow_them() {
    let grants = Grants::parse("[policy.web]\nusers = [\"a*\"]\ndeny_users = [\"ab\"]\n", "g.toml").unwrap();
    let web = grants.policy("web", &[]);
    let asker = Asker { kind: Some("package".into()), name: Some("nginx".into()), line: Some(3), ..Asker::default() };
    for action in ["install", "install", "upgrade", "install"] {
        grants.journal().asks(Some(Asker { action: Some(action.into()), ..asker.clone() }.into()));
        let _denied = web.package("nginx").unwrap_err();
        grants.journal().asks(Some(Asker { action: Some(action.into()), ..asker.clone() }.into()));
        let _denied = web.package("nginx").unwrap_err();
    }
    grants.journal().asks(None);
    let _denied = web.user("ab", grants::Standing::Ordinary).unwrap_err();
    let _denied = web.user("b/c", grants::Standing::Ordinary).unwrap_err();
    let secret = CommandAsked { sensitive: true, ..shell("echo secret") };
    let _denied = web.command(&secret).unwrap_err();
    let _granted = web.user("ac", grants::Standing::Ordinary).unwrap();
    let (denials, left_out) = grants.journal().denials();
    let shown: Vec<_> = denials
        .iter()
        .map(|one| {
            (
                one.message.as_str(),
                one.key.as_str(),
                one.value.as_deref(),
                one.times,
                one.by.as_ref().is_some_and(|by| by.name == asker.name),
            )
        })
        .collect();
    let expect = [
        ("may not manage package nginx", "packages", Some("\"nginx\""), 3, true),
        ("may not manage user ab", "users", None, 1, false),
        ("may not manage user b/c", "users", None, 1, false),
        ("may not run command [sensitive]", "commands", None, 1, false),
    ];
    assert_eq!((shown, left_out), (expect.to_vec(), 0));
    assert_eq!(denials[1].reason.as_deref(), Some("line 3 of g.toml refuses it: `ab`"));
    for number in 0..2_000 {
        let _denied = web.package(&format!("p{number}")).unwrap_err();
    }
    let (denials, left_out) = grants.journal().denials();
    assert_eq!((denials.len(), left_out), (300, 1_704));
}

/// The right to jobs of one user is less than the right to a file that root's cron reads.
#[test]
fn a_suggestion_for_a_job_names_its_user_and_not_its_file() {
    let recorder = Grants::allow_all().policy("core", &[]);
    let _job = recorder.cron_entry("/etc/cron.d/tidy", "shop", grants::Standing::Ordinary).unwrap();
    let _job = recorder.cron_entry("/etc/cron.d/numbered", "1000", grants::Standing::Ordinary).unwrap();
    let text = recorder.journal().suggestion(&Default::default(), true, &Grants::nothing());
    assert!(text.contains("cron_users = [\"shop\"]") && text.contains("paths = [\"/etc/cron.d/numbered\"]"), "{text}");
    assert!(!text.contains("tidy"), "{text}");
}
