//! Environment variables that decide what a program loads, runs or whom it speaks to.

/// Variables that are privileged.
const VARIABLES: [&str; 94] = [
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
    // Programs that others start, and the files that they read options from.
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
];

/// Beginnings of such variables' names.
const BEGINNINGS: [&str; 18] = [
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
];

/// Variables that name a server in between, in small letters; programs know both cases.
const PROXIES: [&str; 6] = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "rsync_proxy"];

/// Returns whether the variable decides what a program loads, runs or speaks to. Rules with `<any>` or wildcards do not
/// reach its value.
pub(crate) fn variable(name: &str) -> bool {
    VARIABLES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
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
        ] {
            assert!(variable(name), "{name}");
        }
        for name in ["LANG", "MYSQL_HOST", "PGHOST", "PORT", "RAILS_ENV"] {
            assert!(!variable(name), "{name}");
        }
    }
}
