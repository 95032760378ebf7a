//! Environment variables that decide which code a program loads or runs, or which servers it connects to.

/// Variables that are privileged.
const VARIABLES: &[&str] = &[
    // Shells.
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "SHELL",
    "HOME",
    "CDPATH",
    "FPATH",
    "ZDOTDIR",
    "EXECIGNORE",
    // The C library.
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "HOSTALIASES",
    "RES_OPTIONS",
    "LOCALDOMAIN",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TZDIR",
    "GETCONF_DIR",
    // Languages.
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "_JAVA_OPTIONS",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONPLATLIBDIR",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PERL5DB",
    "RUBYLIB",
    "RUBYOPT",
    "RUBYSHELL",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_GEMFILE",
    "NODE_OPTIONS",
    "NODE_PATH",
    "CLASSPATH",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "LUA_PATH",
    "LUA_CPATH",
    "LUA_INIT",
    "TCLLIBPATH",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_ENVIRON",
    "ERL_FLAGS",
    "ERL_LIBS",
    "AWKPATH",
    "AWKLIBPATH",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "CC",
    "CXX",
    // Programs that other programs start, and files from which they read options.
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSKEY",
    "LESSKEYIN",
    "SUDO_ASKPASS",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "RSYNC_RSH",
    "TAR_OPTIONS",
    "TAPE",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "PSQLRC",
    "PGSYSCONFDIR",
    "PGSERVICEFILE",
    "MYSQL_HOME",
    "CURL_HOME",
    "WGETRC",
    "INPUTRC",
    "DEBIAN_FRONTEND",
    // Commands that programs run to get a password or to reach a server.
    "BORG_PASSCOMMAND",
    "BORG_RSH",
    "RESTIC_PASSWORD_COMMAND",
    "RESTIC_PASSWORD_FILE",
    "SVN_SSH",
    "SVN_EDITOR",
    "CVS_RSH",
    "HGRCPATH",
    "HGEDITOR",
    "RCLONE_PASSWORD_COMMAND",
    // Frameworks that load the named code.
    "DOTNET_STARTUP_HOOKS",
    "CORECLR_PROFILER_PATH",
    "CORECLR_PROFILER",
    "COR_PROFILER_PATH",
    "DJANGO_SETTINGS_MODULE",
    "FLASK_APP",
    "JAVA_OPTS",
    "CATALINA_OPTS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "SBT_OPTS",
    "OPENSSL_CONF_INCLUDE",
    // Folders and files from which a program reads its settings, credentials or messages.
    "LANGUAGE",
    "CREDENTIALS_DIRECTORY",
    "RUNTIME_DIRECTORY",
    "STATE_DIRECTORY",
    "CONFIGURATION_DIRECTORY",
    "MAIL_CONFIG",
    "MAIL_DEBUG",
    "MAIL_VERBOSE",
    "APACHE_CONFDIR",
    "APACHE_ENVVARS",
    "APACHE_ULIMIT_MAX_FILES",
    "APACHE_LYNX",
    "APACHE_STATUSURL",
    "pkgdatadir",
    "sysconfdir",
    "KUBECONFIG",
    "DOCKER_CONFIG",
    "DOCKER_HOST",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
];

/// The beginnings of names of such variables.
const BEGINNINGS: &[&str] = &[
    "LD_",
    "BASH_FUNC_",
    "GIT_",
    "MALLOC_",
    "GLIBC_",
    "DPKG_",
    "APT_",
    "DYLD_",
    "XDG_",
    "SSL_CERT_",
    "DEBCONF_",
    "SYSTEMD_",
    "DBUS_",
    "KRB5",
    "TERMINFO",
    "CARGO_",
    "npm_config_",
    "NPM_CONFIG_",
    "ANSIBLE_",
    "BUNDLE_",
    "PIP_",
    "UV_",
    "COMPlus_",
    "DOTNET_",
    "POSTFIX_",
];

/// Variables that are known to have no effect on the code that a program runs, loads or reads.
const PLAIN: [&str; 19] = [
    "LANG",
    "PORT",
    "COLUMNS",
    "LINES",
    "RAILS_ENV",
    "RACK_ENV",
    "NODE_ENV",
    "APP_ENV",
    "ENVIRONMENT",
    "LOG_LEVEL",
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGPASSWORD",
    "MYSQL_HOST",
    "MYSQL_PWD",
    "MYSQL_TCP_PORT",
    "REDISCLI_AUTH",
];

/// Parts of the names of variables with secrets, in upper case.
const SECRET_PARTS: [&str; 10] =
    ["PASS", "PWD", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "SALT", "PHRASE"];

/// The end of the first line of a private key in PEM format, whatever its type and encryption.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

/// Variables that name a proxy server, in lower case; programs accept both cases.
const PROXIES: [&str; 6] = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "rsync_proxy"];

/// Tells whether the variable decides which code a program loads or runs, or which servers it connects to. Rules with `<any>`
/// or wildcards do not cover its value.
pub(crate) fn variable(name: &str) -> bool {
    VARIABLES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
}

/// Tells whether a suggested rule may allow any value of the variable. The variable must be known to be harmless; it is not
/// enough that nothing is known about it.
pub(crate) fn is_plain_variable(name: &str) -> bool {
    (PLAIN.contains(&name) || name.starts_with("LC_")) && !variable(name)
}

/// Tells whether a variable's value should not appear in a log. That is decided by its name, or because the value is a
/// private key or an address with user name and password. The value of a variable that decides which code runs is always
/// shown, because the operator must be able to read it.
pub(crate) fn may_be_secret(name: &str, value: &str) -> bool {
    let capitals = name.to_ascii_uppercase();
    let has_login = || value.split_once("://").is_some_and(|(_, rest)| rest.contains('@'));
    let is_called_so = SECRET_PARTS.iter().any(|part| capitals.contains(part)) && !variable(name);
    is_called_so || has_login() || value.contains(PRIVATE_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_decide_what_is_loaded_or_run() {
        for name in [
            "LD_PRELOAD",
            "BASH_ENV",
            "PATH",
            "_JAVA_OPTIONS",
            "PYTHONPYCACHEPREFIX",
            "NPM_CONFIG_SCRIPT_SHELL",
            "TAR_OPTIONS",
            "OPENSSL_CONF",
            "CLASSPATH",
            "PSQLRC",
            "XDG_CONFIG_HOME",
            "http_proxy",
            "HTTPS_PROXY",
            "DEBIAN_FRONTEND",
            "BORG_PASSCOMMAND",
            "RESTIC_PASSWORD_COMMAND",
            "DOTNET_STARTUP_HOOKS",
            "CORECLR_PROFILER_PATH",
            "SVN_SSH",
            "HGRCPATH",
            "ANSIBLE_CONFIG",
            "BUNDLE_PATH",
            "JAVA_OPTS",
            "CREDENTIALS_DIRECTORY",
            "MAIL_CONFIG",
            "APACHE_ENVVARS",
            "pkgdatadir",
            "LANGUAGE",
        ] {
            assert!(variable(name), "{name}");
        }
        for name in ["LANG", "MYSQL_HOST", "PGHOST", "PORT", "RAILS_ENV"] {
            assert!(!variable(name), "{name}");
        }
    }

    #[test]
    fn only_variables_that_are_known_are_plain() {
        for name in ["LANG", "LC_ALL", "RAILS_ENV", "PGPASSWORD"] {
            assert!(is_plain_variable(name), "{name}");
        }
        for name in ["UNHEARD_OF", "LANGUAGE", "PATH", "LD_PRELOAD", "MY_PASSWORD", "BORG_PASSCOMMAND", ""] {
            assert!(!is_plain_variable(name), "{name}");
        }
    }

    #[test]
    fn values_that_may_be_secret() {
        for (name, value) in [
            ("DB_PASSWORD", "x"),
            ("api_key", "x"),
            ("DATABASE_URL", "postgres://u:p@h/d"),
            ("AWS_SECRET_ACCESS", ""),
            ("SIGNER", "-----BEGIN RSA PRIVATE KEY-----\nx"),
        ] {
            assert!(may_be_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("PORT", "80"),
            ("SITE", "https://example.org/a"),
            ("MAIL", "a@b"),
            ("BORG_PASSCOMMAND", "id"),
            ("ISSUER", "-----BEGIN CERTIFICATE-----\nx"),
        ] {
            assert!(!may_be_secret(name, value), "{name}");
        }
    }
}
