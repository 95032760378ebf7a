//! `yum_repository`: a file that describes a package repository for yum and dnf.

use super::text::{file_name, one_line};
use super::{Composite, Machine, child, children, command, invalid, not_if, notifying, rendered, with_text};
use crate::resources::asked;
use contract::{Composition, Declaration, Property, Raised, Timing, Wanted};
use schema::types::yum_repository::YumRepositoryProperties;
use serde_json::{Value, json};

/// The composite of `yum_repository`.
pub(super) struct YumRepository;

impl Composite for YumRepository {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: YumRepositoryProperties = asked::properties(wanted)?;
        // Cookbooks for several distributions declare repositories where yum is absent: there the resource does nothing.
        if !machine.has_program("yum") {
            return Ok(Composition::default());
        }
        let id = file_name("repositoryid", &properties.repositoryid)?;
        if id.starts_with('-') || id.contains(|sign: char| sign.is_whitespace() || "[]*,".contains(sign)) {
            return Err(invalid(format!("repositoryid {id:?} is not the name of a repository")));
        }
        let folder = properties.reposdir.trim_end_matches('/');
        let (path, own) = (format!("{folder}/{id}.repo"), rendered(wanted));
        // Where apt is the machine's own tool, `package` knows nothing of yum.
        let reloaded = if machine.has_program("apt-get") { "yum_package" } else { "package" };
        let repository = Repository { id, path, own, reloaded, properties: &properties };
        match wanted.action {
            "delete" | "remove" => repository.remove(machine),
            "makecache" => {
                Ok(children([repository.reloading(repository.make_cache("run", false)), repository.reload()]))
            }
            _ => repository.create(machine),
        }
    }
}

/// A resource that declares a repository.
struct Repository<'p> {
    id: &'p str,
    path: String,
    /// The file's content, if the policy has rendered it itself.
    own: Option<Property>,
    /// The type of the child that drops the list of known packages.
    reloaded: &'static str,
    properties: &'p YumRepositoryProperties,
}

impl Repository<'_> {
    fn create(&self, machine: &Machine<'_, '_>) -> Result<Composition, Raised> {
        if self.properties.source.is_some() {
            let hint = "declare a `template` in the folder of repositories";
            return Err(invalid("source can be rendered by cookbooks in Ruby only").with_hint(hint));
        }
        let text = match &self.own {
            Some(own) => own.clone(),
            None => Property::Plain(json!(content(self.properties)?)),
        };
        let file = with_text(child("template", &self.path, "create", [("mode", json!(self.properties.mode))]), text);
        let mut file = Declaration { sensitive: self.has_secrets(&file), ..file };
        if !self.properties.make_cache {
            return Ok(children([file]));
        }
        let id = self.id;
        if self.properties.clean_metadata || self.properties.clean_headers {
            file = notifying(file, Timing::Immediate, &format!("execute[yum clean metadata {id}]"), "run");
        }
        let is_fast = !machine.has_program("dnf") && self.properties.makecache_fast;
        let cache = self.make_cache("nothing", is_fast);
        file = notifying(file, Timing::Immediate, &cache.key(), "run");
        let clean = ["yum", "clean", "metadata", "--disablerepo=*", &format!("--enablerepo={id}")];
        Ok(children([
            self.reloading(file),
            command(&format!("yum clean metadata {id}"), "nothing", &clean),
            self.make_cache("nothing", false),
            self.make_cache("nothing", true),
            self.reload(),
        ]))
    }

    /// Tells whether reports must not show the file's content: it has a password, or an address with one.
    fn has_secrets(&self, file: &Declaration) -> bool {
        let is_secret = |line: &str| {
            let name = line.split('=').next().unwrap_or_default().trim();
            name.ends_with("password") || text::has_credentials(line)
        };
        let properties = self.properties;
        properties.password.is_some()
            || properties.proxy_password.is_some()
            || matches!(file.property("content"), Some(Property::Plain(Value::String(text))) if text.lines().any(is_secret))
    }

    fn remove(&self, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let id = self.id;
        let words = ["yum", "clean", "all", "--disablerepo=*", &format!("--enablerepo={id}")];
        machine.granted(&words)?;
        let known = machine.printed_confined("yum", &["repolist", "all"]).unwrap_or_default();
        let is_known = known.lines().any(|line| line.split_whitespace().next() == Some(id));
        let clean = not_if(!is_known, command(&format!("yum clean all {id}"), "run", &words));
        Ok(children([clean, self.reloading(child("file", &self.path, "delete", [])), self.reload()]))
    }

    /// Returns the command that fetches the repository's index.
    fn make_cache(&self, action: &str, is_fast: bool) -> Declaration {
        let id = self.id;
        let only = format!("--enablerepo={id}");
        let fast: &[&str] = if is_fast { &["fast"] } else { &[] };
        let words = [&["yum", "-q", "-y", "makecache"], fast, &["--disablerepo=*", &only]].concat();
        let name = if is_fast { format!("yum-makecache-fast-{id}") } else { format!("yum-makecache-{id}") };
        not_if(!self.properties.enabled, command(&name, action, &words))
    }

    /// Makes a child notify the host to drop its list of known packages.
    fn reloading(&self, child: Declaration) -> Declaration {
        notifying(child, Timing::Immediate, &self.reload().key(), "flush_cache")
    }

    fn reload(&self) -> Declaration {
        child(self.reloaded, &format!("package-cache-reload-{}", self.id), "nothing", [])
    }
}

/// Returns the file's content, as Chef's template renders it.
fn content(properties: &YumRepositoryProperties) -> Result<String, Raised> {
    let p = properties;
    let flag = |value: bool| Some(if value { "1" } else { "0" }.to_owned());
    let once = |value: Option<bool>| value.filter(|value| *value).map(|_| "1".to_owned());
    let list = |value: &Option<Vec<String>>, indent: usize| {
        value.as_ref().map(|values| values.join(&format!("\n{}", " ".repeat(indent))))
    };
    let mut shown: Vec<(&str, Option<String>)> = vec![
        ("baseurl", list(&p.baseurl, 8)),
        ("cost", p.cost.clone()),
        ("enabled", flag(p.enabled)),
        ("enablegroups", once(p.enablegroups)),
        ("exclude", p.exclude.clone()),
        ("failovermethod", p.failovermethod.clone()),
        ("fastestmirror_enabled", flag(p.fastestmirror_enabled.unwrap_or(false))),
        ("gpgcheck", flag(p.gpgcheck)),
        ("gpgkey", list(&p.gpgkey, 7)),
        ("http_caching", p.http_caching.clone()),
        ("include", p.include_config.clone()),
        ("includepkgs", p.includepkgs.clone()),
        ("keepalive", once(p.keepalive)),
        ("metadata_expire", p.metadata_expire.clone()),
        ("metalink", p.metalink.clone()),
        ("mirrorlist", p.mirrorlist.clone()),
        ("mirror_expire", p.mirror_expire.clone()),
        ("mirrorlist_expire", p.mirrorlist_expire.clone()),
        ("priority", p.priority.clone()),
        ("proxy", p.proxy.clone()),
        ("proxy_username", p.proxy_username.clone()),
        ("proxy_password", p.proxy_password.clone()),
        ("username", p.username.clone()),
        ("password", p.password.clone()),
        ("repo_gpgcheck", once(p.repo_gpgcheck)),
        ("retries", p.max_retries.clone()),
        ("report_instanceid", p.report_instanceid.filter(|value| *value).map(|value| value.to_string())),
        ("skip_if_unavailable", once(p.skip_if_unavailable)),
        ("sslcacert", p.sslcacert.clone()),
        ("sslclientcert", p.sslclientcert.clone()),
        ("sslclientkey", p.sslclientkey.clone()),
        ("sslverify", p.sslverify.map(|value| value.to_string())),
        ("throttle", p.throttle.clone()),
        ("timeout", p.timeout.clone()),
    ];
    // Each option appears once: an entry of `options` replaces a property of the same name.
    let own = shown.len();
    for (name, value) in p.options.iter().flat_map(|options| options.as_object()).flatten() {
        let value = match value {
            Value::Null => None,
            Value::Bool(value) => flag(*value),
            Value::String(text) => Some(text.clone()),
            Value::Array(values) => {
                let texts = values.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
                Some(texts.collect::<Vec<_>>().join(&format!("\n{}", " ".repeat(7))))
            }
            other => Some(other.to_string()),
        };
        match shown.iter_mut().take(own).find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => shown.push((name, value)),
        }
    }
    let description = one_line("description", &p.description)?;
    let head = "# This file was generated by Chef Infra\n# Do NOT modify this file by hand.\n\n";
    let mut text = format!("{head}[{}]\nname={description}\n", p.repositoryid);
    for (name, value) in shown {
        let Some(value) = value else { continue };
        // Further lines of a list are indented; a line without indent would be another setting.
        let is_plain = value.split('\n').skip(1).all(|line| line.starts_with(' '));
        if !is_plain || name.contains(['=', '\n', '[']) || value.contains('\r') {
            return Err(invalid(format!("{name} must not contain line ends")));
        }
        text.push_str(&format!("{name}={value}\n"));
    }
    Ok(text)
}
