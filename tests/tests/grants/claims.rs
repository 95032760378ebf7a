//! What the reference says of properties: each that is said to need a grant of its own is asked for.

use super::{Bench, json};
use schema::ResourceType;
use schema::property::{Deputy, Property};
use serde_json::{Value, json as literal};
use specs::{Network, Root};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Types whose properties are asked for one by one. Others are a part of a file, a command or an account that is asked for whole.
const KINDS: [&str; 7] = ["apt_repository", "dnf_package", "execute", "git", "http_request", "mount", "rpm_package"];

/// Properties that need the command `git`, whatever their values are.
const OF_GIT: [&str; 2] = ["environment", "ssh_wrapper"];

/// Returns a value for a property, in Ruby, that has a word which nothing else has.
fn value(kind: &ResourceType, property: &Property, word: &str) -> Option<String> {
    let text = match property.deputy {
        Deputy::Host => format!("https://{word}.example/x"),
        Deputy::Path | Deputy::ReadPath | Deputy::Command => format!("/srv/{word}"),
        _ => word.to_owned(),
    };
    let values: [(Value, String); 3] = [
        (literal!(text), format!("'{text}'")),
        (literal!([text]), format!("['{text}']")),
        (literal!({ word: text }), format!("{{ '{word}' => '{text}' }}")),
    ];
    let fits = |value: &Value| schema::validate_one(kind.name, "x", property.name, value.clone()).is_ok();
    values.into_iter().find(|(value, _)| fits(value)).map(|(_, ruby)| ruby)
}

/// What else a type needs to come as far as its own property, in Ruby.
fn others(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "apt_repository" => &[("uri", "'http://127.0.0.1:1/'"), ("key", "'ABCDEF01'"), ("keyserver", "'keys.example'")],
        "execute" => &[("command", "'false'")],
        "git" => &[("repository", "'https://a.example/none'"), ("destination", "'/srv/checkout'")],
        "http_request" => &[("url", "'http://127.0.0.1:1/'")],
        "mount" => &[("device", "'/dev/none'"), ("fstype", "'ext4'")],
        _ => &[],
    }
}

#[test]
fn attack_each_property_that_is_said_to_need_a_grant_is_asked_for() {
    let (mut recipe, mut asked) = (String::new(), vec![]);
    for kind in schema::builtin().filter(|kind| KINDS.contains(&kind.name)) {
        let is_own = |property: &&Property| property.deputy.word().is_some() && !OF_GIT.contains(&property.name);
        for property in kind.own_properties().filter(is_own) {
            let word = format!("sentinel{}", asked.len());
            let Some(value) = value(kind, property, &word) else { continue };
            let others = others(kind.name).iter().filter(|(name, _)| *name != property.name);
            let others: String = others.map(|(name, value)| format!("{name}({value}); ")).collect();
            recipe += &format!(
                "begin; {}('r{}') {{ ignore_failure true; {others}{}({value}) }}; rescue StandardError; end\n",
                kind.name,
                asked.len(),
                property.name
            );
            asked.push((kind.name, property.name, word));
        }
    }
    let (bench, root) = (Bench::new(&recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let run = json(&bench.converge(&machine, &["--format", "json", "--why-run"]));
    let denials = run.get("denials").unwrap().to_string();
    let is_told = |word: &str| denials.split(word).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    let silent: Vec<_> =
        asked.iter().filter(|(.., word)| !is_told(word)).map(|(kind, name, _)| format!("{kind} {name}")).collect();
    assert_eq!(silent, [""; 0]);
    assert!(asked.len() > 15, "{}", asked.len());
}

/// What a resource of a type needs to be complete, in Ruby: its name, its action, and its properties.
struct Base {
    name: &'static str,
    action: &'static str,
    others: &'static [(&'static str, &'static str)],
}

/// Returns the resource of a type that is granted before a property is added to it.
fn base(kind: &str) -> Base {
    let of = |name, action, others| Base { name, action, others };
    match kind {
        "alternatives" => of("tool", "install", &[("path", "'/srv/tool'"), ("priority", "5")]),
        "apt_repository" => of(
            "repo",
            "add",
            &[("uri", "'http://127.0.0.1:1/'"), ("key", "'ABCDEF01'"), ("keyserver", "'keys.example'")],
        ),
        "archive_file" => of("/srv/archive.tar", "extract", &[("destination", "'/srv/unpacked'")]),
        "bash" | "csh" | "ksh" | "perl" | "python" | "ruby" => of("script", "run", &[("code", "'true'")]),
        "script" => of("script", "run", &[("code", "'true'"), ("interpreter", "'sh'")]),
        "chef_handler" => of("Handler", "enable", &[("source", "'/srv/handler.rb'")]),
        "cookbook_file" => of("/srv/cookbook_file", "create", &[("source", "'x'")]),
        "template" => of("/srv/template", "create", &[("source", "'x.erb'")]),
        "remote_directory" => of("/srv/remote", "create", &[("source", "'folder'")]),
        "cron" => of("job", "create", &[("command", "'true'")]),
        "cron_d" => of("file", "create", &[("command", "'true'")]),
        "directory" => of("/srv/directory", "create", &[]),
        "execute" => of("true", "run", &[]),
        "file" => of("/srv/file", "create", &[("content", "'x'")]),
        "git" => of("/srv/checkout", "sync", &[("repository", "'https://a.example/none'")]),
        "group" => of("team", "create", &[]),
        "http_request" => of("request", "get", &[("url", "'http://127.0.0.1:1/'")]),
        "link" => of("/srv/link", "create", &[("to", "'/srv/target'")]),
        "kernel_module" => of("loop", "install", &[]),
        "linux_user" | "user" => of("ada", "create", &[]),
        "mount" => of("/srv/mount", "mount", &[("device", "'/dev/none'"), ("fstype", "'ext4'")]),
        "openssl_dhparam" => of("/srv/dh.pem", "create", &[]),
        "openssl_ec_private_key" => of("/srv/ec.key", "create", &[]),
        "openssl_rsa_private_key" => of("/srv/rsa.key", "create", &[]),
        "openssl_ec_public_key" => of("/srv/ec.pub", "create", &[("private_key_path", "'/srv/ec.key'")]),
        "openssl_rsa_public_key" => of("/srv/rsa.pub", "create", &[("private_key_path", "'/srv/rsa.key'")]),
        "openssl_x509_certificate" => of("/srv/cert.pem", "create", &[("common_name", "'x'")]),
        "openssl_x509_request" => of("/srv/request.pem", "create", &[("common_name", "'x'")]),
        "openssl_x509_crl" => {
            of("/srv/list.pem", "create", &[("ca_cert_file", "'/srv/cert.pem'"), ("ca_key_file", "'/srv/cert.key'")])
        }
        "remote_file" => of("/srv/remote_file", "create", &[("source", "'file:///srv/source'")]),
        "service" => of("web", "start", &[]),
        "ssh_known_hosts_entry" => of("a.example", "create", &[("key", "'ssh-rsa AAAA'")]),
        "sudo" => of("team", "create", &[("users", "['ada']")]),
        "sysctl" => of("vm.swappiness", "apply", &[("value", "'1'")]),
        "systemd_unit" => of("web.service", "create", &[("content", "'[Service]'")]),
        "yum_repository" => of("repo", "create", &[("baseurl", "'http://127.0.0.1:1/'")]),
        _ => of("thing", "install", &[]),
    }
}

/// Returns a value with which a property matters, in Ruby, and what else it then needs. `None`: any value does.
fn telling(kind: &str, property: &Property) -> Option<(&'static str, &'static str)> {
    Some(match (kind, property.name) {
        (_, _) if property.deputy == Deputy::Mode => ("'4755'", ""),
        ("template", "local") => ("true", "source('/srv/local.erb'); "),
        ("service", "stop_command") => ("'/srv/stop'", "action :stop; "),
        ("service", "restart_command") => ("'/srv/restart'", "action :restart; "),
        ("service", "reload_command") => ("'/srv/reload'", "action :reload; "),
        ("kernel_module", "unload_dir") => ("'/srv/unload'", "action :blacklist; "),
        ("group", "gid") => ("60", ""),
        ("user" | "linux_user", "uid") => ("5", ""),
        ("user" | "linux_user", "gid") => ("'games'", ""),
        (_, "response_file") => ("'x.seed'", ""),
        _ => return None,
    })
}

/// Properties that are asked for where a plan of this test does not come, each with the reason.
const ELSEWHERE: [(&str, &str, &str); 17] = [
    ("apt_package", "source", "apt takes no package file"),
    ("package", "source", "apt takes no package file"),
    ("apt_package", "response_file", "the root has no lists of packages"),
    ("dpkg_package", "response_file", "the root has no package file"),
    ("package", "response_file", "the root has no lists of packages"),
    ("openssl_ec_public_key", "mode", "the key is not known in a dry run"),
    ("openssl_rsa_public_key", "mode", "the key is not known in a dry run"),
    ("openssl_x509_certificate", "mode", "the key is not known in a dry run"),
    ("openssl_x509_request", "mode", "the key is not known in a dry run"),
    ("openssl_x509_certificate", "csr_file", "a real run reads it"),
    ("openssl_x509_certificate", "ca_cert_file", "a real run reads it"),
    ("openssl_x509_certificate", "ca_key_file", "a real run reads it"),
    ("openssl_x509_request", "key_file", "a real run reads it"),
    ("ssh_known_hosts_entry", "mode", "the file is written at the end of a run"),
    ("yum_repository", "reposdir", "the root has no yum"),
    ("sudo", "visudo_binary", "it is run only where the policy may look at it"),
    ("yum_repository", "mode", "the root has no yum"),
];

/// Writes a resource as one line of Ruby that never ends the recipe.
fn line(kind: &str, base: &Base, without: &str, more: &str) -> String {
    let others = base.others.iter().filter(|(name, _)| *name != without && !more.contains(&format!("{name}(")));
    let others: String = others.map(|(name, value)| format!("{name}({value}); ")).collect();
    let action = if more.contains("action :") { String::new() } else { format!("action :{}; ", base.action) };
    format!(
        "begin; {kind}('{}') {{ ignore_failure true; {action}{others}{more} }}; rescue StandardError; end\n",
        base.name
    )
}

/// A right to a resource without a property does not reach what the reference says has a grant of its own.
#[test]
fn attack_no_property_with_a_grant_of_its_own_comes_with_the_resource() {
    let kinds = || schema::builtin().filter(|kind| kind.documented_properties().any(|one| one.deputy.word().is_some()));
    let bases: Vec<(String, &str)> =
        kinds().map(|kind| (line(kind.name, &base(kind.name), "", ""), kind.name)).collect();
    let mut lines = bases.clone().into_iter().map(|(text, kind)| (text, kind, "")).collect::<Vec<_>>();
    for kind in kinds() {
        let is_asked = |one: &Property| {
            one.deputy.word().is_some() && !ELSEWHERE.iter().any(|(of, name, _)| (*of, *name) == (kind.name, one.name))
        };
        for property in kind.documented_properties().filter(is_asked) {
            let word = format!("sentinel{}", lines.len());
            let telling = telling(kind.name, &property).map(|(value, more)| (value.to_owned(), more));
            let Some((value, more)) = telling.or_else(|| Some((value(kind, &property, &word)?, ""))) else { continue };
            let more = format!("{more}{}({value})", property.name);
            lines.push((line(kind.name, &base(kind.name), property.name, &more), kind.name, property.name));
        }
    }
    let all = lines.iter().map(|(text, ..)| text.as_str()).collect::<String>();
    let root = Root::new().unwrap();
    root.run(&["tar", "-cf", "/srv/archive.tar", "-C", "/etc", "hostname"]).unwrap();
    root.write("/srv/source", "x").unwrap();
    root.write_program("/etc/init.d/web", "#!/bin/sh\n# status\n").unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let bench = Bench::new(&bases.iter().map(|(text, _)| text.as_str()).collect::<String>());
    for path in ["templates/x.erb", "templates/x.seed", "files/x", "files/x.seed", "files/folder/x"] {
        let place = format!("{}/site/{path}", bench.cookbooks);
        fs::create_dir_all(Path::new(&place).parent().unwrap()).unwrap();
        fs::write(place, "x").unwrap();
    }
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]);
    fs::write(bench.grants(), &suggested.stdout).unwrap();
    fs::write(format!("{}/site/recipes/default.rb", bench.cookbooks), all).unwrap();
    let run = json(&bench.converge(&machine, &["--format", "json", "--why-run"]));
    let rows = run.get("resources").and_then(Value::as_array).unwrap();
    let denied: BTreeSet<usize> = rows.iter().filter_map(denied_line).collect();
    let told = |is_denied: bool, with_property: bool| {
        let all = lines.iter().enumerate().filter(|(at, (.., property))| {
            denied.contains(&(at + 1)) == is_denied && property.is_empty() != with_property
        });
        all.map(|(_, (_, kind, property))| format!("{kind} {property}")).collect::<Vec<_>>()
    };
    assert_eq!(told(true, false), [""; 0], "these are not granted without the property: {}", suggested.stderr);
    assert_eq!(told(false, true), [""; 0], "these come with the resource");
    assert!(lines.len() > 150, "{}", lines.len());
}

/// Returns the line of an action that was denied something.
fn denied_line(row: &Value) -> Option<usize> {
    let text = |path: &str| row.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let is_denied = text("/error/class") == "Wrun::Denied" || text("/error/message").contains("policy `solo` may not");
    is_denied.then(|| row.get("line")?.as_u64()?.try_into().ok())?
}
