//! The built-in resource types, a line for each property and action; the macro `resource!` makes their builders.
//!
//! @generated from the host's schema by `cargo xtask builders`; do not edit.

use crate::builder::kinds::{Anything, Boolean, BooleanOrInteger, BooleanOrText, Integer, IntegerOrList, List, ListOrMap, Map, Mode, Text, TextOrInteger, TextOrList, TextOrMap};

resource! {
    /// Chooses which of several programs answers to one command.
    ///
    /// Default action: `install`.
    Alternatives alternatives "alternatives" "A new `alternatives` resource. The name is also its `link_name`, unless that is set.";
    properties {
        link_name "link_name" set Text "The command's name.\n\nDefault: the resource's name.";
        link "link" set Text "The path of the command.\n\nDefault: /usr/bin and the command's name.";
        path "path" set Text "The program's path.";
        priority "priority" set TextOrInteger "The program's rank: the highest is chosen by itself.";
    }
    actions {
        action_install "install" "Adds the program to the choices.";
        action_set "set" "Chooses the program.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the program from the choices.";
        action_auto "auto" "Lets the rank decide.";
        action_refresh "refresh" "Makes the links anew.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages packages with apt. A list of names is handled in one transaction.
    ///
    /// Default action: `install`.
    AptPackage apt_package "apt_package" "A new `apt_package` resource. The name is also its `package_name`, unless that is set.";
    properties {
        package_name "package_name" set TextOrList "The package's name, or several.\n\nDefault: the resource's name.";
        version "version" set TextOrList "The version, or one for each name of the list.";
        options "options" set TextOrList "Further arguments for the package manager.";
        source "source" set Text "A package file on the node.";
        timeout "timeout" set TextOrInteger "Seconds after which the package manager is ended.\n\nDefault: 900.";
        environment "environment" set Map "Environment variables for the package manager.\n\nDefault: `{}`.";
        default_release "default_release" set Text "The release that versions are taken from, as `-t` of apt-get.";
        overwrite_config_files "overwrite_config_files" set Boolean "Whether the package's configuration replaces files changed on the node.\n\nDefault: `false`.";
        response_file "response_file" set Text "A template of the cookbook with answers to debconf's questions.";
        response_file_variables "response_file_variables" set Map "What the response file's template sees as its variables.\n\nDefault: `{}`.";
        anchor_package_regex "anchor_package_regex" set Boolean "Whether a name that apt takes as a pattern must match whole names.\n\nDefault: `false`.";
    }
    actions {
        action_install "install" "Installs the package; with a version, exactly that one.";
        action_upgrade "upgrade" "Installs the package or brings it to the newest version.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the package and leaves its configuration.";
        action_purge "purge" "Removes the package and its configuration.";
        action_reconfig "reconfig" "Configures the package again from its response file.";
        action_lock "lock" "Keeps the package at its version.";
        action_unlock "unlock" "Lets the package be upgraded again.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Tells apt which version or release of a package to prefer.
    ///
    /// Default action: `add`.
    AptPreference apt_preference "apt_preference" "A new `apt_preference` resource. The name is also its `package_name`, unless that is set.";
    properties {
        package_name "package_name" set Text "The package, or a pattern with `*`.\n\nDefault: the resource's name.";
        glob "glob" set Text "A pattern of packages in place of the name.";
        pin "pin" set Text "What is preferred, such as `version 1.2*` or `release a=stable`.\n\nRequired for `add`.";
        pin_priority "pin_priority" set TextOrInteger "How strongly the pinned version is preferred, such as 1001; above 1000 it also replaces newer ones.\n\nRequired for `add`.";
    }
    actions {
        action_add "add" "Writes the preference's file.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the preference's file.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Adds a source of packages, with its signing key, to apt.
    ///
    /// Default action: `add`.
    AptRepository apt_repository "apt_repository" "A new `apt_repository` resource. The name is also its `repo_name`, unless that is set.";
    properties {
        repo_name "repo_name" set Text "The name of the file in sources.list.d.\n\nDefault: the resource's name.";
        uri "uri" set Text "The source's address, or `ppa:` and a name.";
        distribution "distribution" set BooleanOrText "The distribution, most often its code name; null leaves it out.\n\nDefault: the node's own code name.";
        components "components" set List "The components, such as `main`.\n\nDefault: `[]`.";
        arch "arch" set BooleanOrText "The architectures, separated by commas.";
        trusted "trusted" set Boolean "Whether packages are taken without a signature.\n\nDefault: `false`.";
        deb_src "deb_src" set Boolean "Whether source packages are offered too.\n\nDefault: `false`.";
        keyserver "keyserver" set BooleanOrText "The server from which a key named by its number is fetched.\n\nDefault: `\"keyserver.ubuntu.com\"`.";
        key "key" set Anything "The signing keys: addresses, files of the cookbook, or numbers to ask the key server for.\n\nDefault: `[]`.";
        key_proxy "key_proxy" set BooleanOrText "The proxy for the key server.";
        signed_by "signed_by" set BooleanOrText "The key ring that must sign this source: a path, or true for one of its own.\n\nDefault: `true`.";
        cookbook "cookbook" set BooleanOrText "The cookbook that has the key's file.";
        cache_rebuild "cache_rebuild" set Boolean "Whether the index is refreshed after a change.\n\nDefault: `true`.";
        options "options" set TextOrList "Further options in the source's line.\n\nDefault: `[]`.";
    }
    actions {
        action_add "add" "Writes the source's file, installs its key and refreshes the index.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the source's file.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Refreshes apt's index of packages.
    ///
    /// Default action: `periodic`.
    AptUpdate apt_update "apt_update" "A new `apt_update` resource.";
    properties {
        frequency "frequency" set Integer "How old, in seconds, the index may be before `periodic` refreshes it.\n\nDefault: `86400`.";
    }
    actions {
        action_periodic "periodic" "Refreshes the index if it is too old.";
        action_update "update" "Refreshes the index.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Unpacks an archive that is on the node.
    ///
    /// Default action: `extract`.
    ArchiveFile archive_file "archive_file" "A new `archive_file` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The archive's path.\n\nDefault: the resource's name.";
        destination "destination" set Text "The folder to unpack into.\n\nRequired.";
        owner "owner" set Text "The owner of what is unpacked.";
        group "group" set Text "The group of what is unpacked.";
        mode "mode" set Mode "The permission bits of the destination.\n\nDefault: `\"755\"`.";
        options "options" set TextOrList "What is kept of the archive: times, owners and so on.\n\nDefault: `[:time]`.";
        overwrite "overwrite" set BooleanOrText "Whether existing files are replaced; `auto` replaces those that are older.\n\nDefault: `false`.";
        strip_components "strip_components" set Integer "How many leading folders are left out of the paths.\n\nDefault: `0`.";
    }
    actions {
        action_extract "extract" "Unpacks what is missing or differs.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with `bash`. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Bash bash "bash" "A new `bash` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: `\"bash\"`.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Installs the packages that are needed to compile C programs.
    ///
    /// Default action: `install`.
    BuildEssential build_essential "build_essential" "A new `build_essential` resource.";
    properties {
        raise_if_unsupported "raise_if_unsupported" set Boolean "Whether an unknown platform is an error.\n\nDefault: `false`.";
    }
    actions {
        action_install "install" "Installs the packages.";
        action_upgrade "upgrade" "Brings the packages to their newest versions.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Waits for some seconds.
    ///
    /// Default action: `sleep`.
    ChefSleep chef_sleep "chef_sleep" "A new `chef_sleep` resource. The name is also its `seconds`, unless that is set.";
    properties {
        seconds "seconds" set TextOrInteger "How long, in seconds.\n\nDefault: the resource's name.";
    }
    actions {
        action_sleep "sleep" "Waits.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Puts a file from a cookbook's `files` folder in place, choosing the most specific one for the node.
    ///
    /// Default action: `create`.
    CookbookFile cookbook_file "cookbook_file" "A new `cookbook_file` resource. The name is also its `path`, unless that is set.";
    properties {
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
        mode "mode" set Mode "The permission bits, as octal text or a number.";
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        atomic_update "atomic_update" set Boolean "Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.\n\nDefault: true, but false for files that a container runtime mounts.";
        backup "backup" set BooleanOrInteger "How many earlier versions are kept in the backup folder; false keeps none.\n\nDefault: `5`.";
        checksum "checksum" set Text "The SHA-256 digest that the content must have, in hexadecimal.";
        force_unlink "force_unlink" set Boolean "Whether something else than a file at the path is removed to make room.\n\nDefault: `false`.";
        manage_symlink_source "manage_symlink_source" set Boolean "Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.";
        verify "verify" append List "A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.";
        diff "diff" set Text "The difference that the last action made, for reports.";
        source "source" set TextOrList "The file's path below `files`; of a list, the first that exists.\n\nDefault: the last component of `name`.";
        cookbook "cookbook" set Text "The cookbook that has the source.\n\nDefault: the cookbook that declares the resource.";
    }
    actions {
        action_create "create" "Creates the file, or corrects what differs.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the file.";
        action_touch "touch" "Creates the file if it is missing, and sets its times to now.";
        action_create_if_missing "create_if_missing" "Creates the file if it does not exist; an existing one is left alone.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages one job in a user's crontab, found again by its name.
    ///
    /// Default action: `create`.
    Cron cron "cron" "A new `cron` resource.";
    properties {
        minute "minute" set TextOrInteger "The minute, from 0 to 59.\n\nDefault: `\"*\"`.";
        hour "hour" set TextOrInteger "The hour, from 0 to 23.\n\nDefault: `\"*\"`.";
        day "day" set TextOrInteger "The day of the month, from 1 to 31.\n\nDefault: `\"*\"`.";
        month "month" set TextOrInteger "The month, from 1 to 12 or by its English abbreviation.\n\nDefault: `\"*\"`.";
        weekday "weekday" set TextOrInteger "The day of the week, from 0 (Sunday) to 7 or by its English name.\n\nDefault: `\"*\"`.";
        user "user" set Text "The user the job runs as.\n\nDefault: `\"root\"`.";
        shell "shell" set Text "SHELL in the job's environment.";
        path "path" set Text "PATH in the job's environment.";
        home "home" set Text "HOME in the job's environment.";
        mailto "mailto" set Text "Whom cron mails the output to.";
        environment "environment" set Map "Further variables of the job's environment.\n\nDefault: `{}`.";
        time_out "time_out" set Map "Options of the `timeout` command that the job runs under; a number is its duration.\n\nDefault: `{}`.";
        command "command" set Text "The command to run.\n\nRequired for `create`.";
        time "time" set Text "A word in place of minute, hour, day, month and weekday.\n\nOne of `reboot`, `yearly`, `annually`, `monthly`, `weekly`, `daily`, `midnight`, `hourly`.";
    }
    actions {
        action_create "create" "Enters the job, or corrects it.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the job from the crontab.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Says whether a user may have a crontab.
    ///
    /// Default action: `allow`.
    CronAccess cron_access "cron_access" "A new `cron_access` resource. The name is also its `user`, unless that is set.";
    properties {
        user "user" set Text "The user.\n\nDefault: the resource's name.";
    }
    actions {
        action_allow "allow" "Enters the user in cron.allow.";
        action_deny "deny" "Enters the user in cron.deny.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a file in /etc/cron.d with one job.
    ///
    /// Default action: `create`.
    CronD cron_d "cron_d" "A new `cron_d` resource. The name is also its `cron_name`, unless that is set.";
    properties {
        minute "minute" set TextOrInteger "The minute, from 0 to 59.\n\nDefault: `\"*\"`.";
        hour "hour" set TextOrInteger "The hour, from 0 to 23.\n\nDefault: `\"*\"`.";
        day "day" set TextOrInteger "The day of the month, from 1 to 31.\n\nDefault: `\"*\"`.";
        month "month" set TextOrInteger "The month, from 1 to 12 or by its English abbreviation.\n\nDefault: `\"*\"`.";
        weekday "weekday" set TextOrInteger "The day of the week, from 0 (Sunday) to 7 or by its English name.\n\nDefault: `\"*\"`.";
        user "user" set Text "The user the job runs as.\n\nDefault: `\"root\"`.";
        shell "shell" set Text "SHELL in the job's environment.";
        path "path" set Text "PATH in the job's environment.";
        home "home" set Text "HOME in the job's environment.";
        mailto "mailto" set Text "Whom cron mails the output to.";
        environment "environment" set Map "Further variables of the job's environment.\n\nDefault: `{}`.";
        time_out "time_out" set Map "Options of the `timeout` command that the job runs under; a number is its duration.\n\nDefault: `{}`.";
        cron_name "cron_name" set Text "The file's name.\n\nDefault: the resource's name.";
        predefined_value "predefined_value" set Text "A word such as `@daily` in place of minute, hour, day, month and weekday.\n\nOne of `@reboot`, `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`.";
        command "command" set Text "The command to run.\n\nRequired for `create`, `create_if_missing`.";
        comment "comment" set Text "A remark in the file.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0600\"`.";
        random_delay "random_delay" set Integer "Minutes up to which the start may be delayed, by chance.";
    }
    actions {
        action_create "create" "Writes the file, or corrects what differs.";
        action_create_if_missing "create_if_missing" "Writes the file if it does not exist.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the file.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with `csh`. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Csh csh "csh" "A new `csh` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: `\"csh\"`.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a directory: whether it is there, and who may use it.
    ///
    /// Default action: `create`.
    Directory directory "directory" "A new `directory` resource. The name is also its `path`, unless that is set.";
    properties {
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
        mode "mode" set Mode "The permission bits, as octal text or a number.";
        path "path" set Text "The directory's path.\n\nDefault: the resource's name.";
        recursive "recursive" set Boolean "Whether `create` makes missing parents and `delete` removes what is inside. Owner, group and mode apply to the last directory only.\n\nDefault: `false`.";
    }
    actions {
        action_create "create" "Creates the directory, or corrects its owner, group and mode.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the directory.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages packages with dnf. A list of names is handled in one transaction.
    ///
    /// Default action: `install`.
    DnfPackage dnf_package "dnf_package" "A new `dnf_package` resource. The name is also its `package_name`, unless that is set.";
    properties {
        package_name "package_name" set TextOrList "The package's name, or several.\n\nDefault: the resource's name.";
        version "version" set TextOrList "The version, or one for each name of the list.";
        options "options" set TextOrList "Further arguments for the package manager.";
        source "source" set Text "A package file on the node.";
        timeout "timeout" set TextOrInteger "Seconds after which the package manager is ended.\n\nDefault: 900.";
        environment "environment" set Map "Environment variables for the package manager.\n\nDefault: `{}`.";
        arch "arch" set TextOrList "The architecture, or one for each name of the list.";
        flush_cache "flush_cache" set Map "Whether the index is fetched again before or after the action.\n\nDefault: `{\"before\"=>false, \"after\"=>false}`.";
        allow_downgrade "allow_downgrade" set Boolean "Whether an older version may replace a newer one.\n\nDefault: `true`.";
    }
    actions {
        action_install "install" "Installs the package; with a version, exactly that one.";
        action_upgrade "upgrade" "Installs the package or brings it to the newest version.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the package and leaves its configuration.";
        action_purge "purge" "Removes the package and its configuration.";
        action_reconfig "reconfig" "Configures the package again from its response file.";
        action_lock "lock" "Keeps the package at its version.";
        action_unlock "unlock" "Lets the package be upgraded again.";
        action_flush_cache "flush_cache" "Fetches the index again.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Installs packages from files on the node with dpkg, without their dependencies.
    ///
    /// Default action: `install`.
    DpkgPackage dpkg_package "dpkg_package" "A new `dpkg_package` resource. The name is also its `package_name`, unless that is set.";
    properties {
        package_name "package_name" set TextOrList "The package's name, or several.\n\nDefault: the resource's name.";
        version "version" set TextOrList "The version, or one for each name of the list.";
        options "options" set TextOrList "Further arguments for the package manager.";
        timeout "timeout" set TextOrInteger "Seconds after which the package manager is ended.\n\nDefault: 900.";
        environment "environment" set Map "Environment variables for the package manager.\n\nDefault: `{}`.";
        source "source" set TextOrList "The package's file on the node, or one for each name of the list; else the name is the file.";
        response_file "response_file" set Text "A template of the cookbook with answers to debconf's questions.";
        response_file_variables "response_file_variables" set Map "What the response file's template sees as its variables.\n\nDefault: `{}`.";
        allow_downgrade "allow_downgrade" set Boolean "Whether an older version may replace a newer one.\n\nDefault: `true`.";
    }
    actions {
        action_install "install" "Installs the package; with a version, exactly that one.";
        action_upgrade "upgrade" "Installs the package or brings it to the newest version.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the package and leaves its configuration.";
        action_purge "purge" "Removes the package and its configuration.";
        action_reconfig "reconfig" "Configures the package again from its response file.";
        action_lock "lock" "Keeps the package at its version.";
        action_unlock "unlock" "Lets the package be upgraded again.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs one command. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Execute execute "execute" "A new `execute` resource. The name is also its `command`, unless that is set.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        command "command" set TextOrList "The command: a list of program and arguments, or a line, which goes through a shell where it needs one.\n\nDefault: the resource's name.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages one file: its content, owner, group and mode.
    ///
    /// Default action: `create`.
    File file "file" "A new `file` resource. The name is also its `path`, unless that is set.";
    properties {
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
        mode "mode" set Mode "The permission bits, as octal text or a number.";
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        atomic_update "atomic_update" set Boolean "Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.\n\nDefault: true, but false for files that a container runtime mounts.";
        backup "backup" set BooleanOrInteger "How many earlier versions are kept in the backup folder; false keeps none.\n\nDefault: `5`.";
        checksum "checksum" set Text "The SHA-256 digest that the content must have, in hexadecimal.";
        force_unlink "force_unlink" set Boolean "Whether something else than a file at the path is removed to make room.\n\nDefault: `false`.";
        manage_symlink_source "manage_symlink_source" set Boolean "Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.";
        verify "verify" append List "A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.";
        diff "diff" set Text "The difference that the last action made, for reports.";
        content "content" set Text "The whole content. Unset leaves an existing file's content alone.";
    }
    actions {
        action_create "create" "Creates the file, or corrects what differs.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the file.";
        action_touch "touch" "Creates the file if it is missing, and sets its times to now.";
        action_create_if_missing "create_if_missing" "Creates the file if it does not exist; an existing one is left alone.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a checkout of a git repository.
    ///
    /// Default action: `sync`.
    Git git "git" "A new `git` resource. The name is also its `destination`, unless that is set.";
    properties {
        destination "destination" set Text "The folder of the checkout.\n\nDefault: the resource's name.";
        user "user" set TextOrInteger "The user who makes and owns the checkout.\n\nDefault: the user who runs the run.";
        group "group" set TextOrInteger "The group that makes and owns the checkout.";
        timeout "timeout" set Integer "Seconds after which a command is ended.";
        environment "environment" set Map "Environment variables for the commands.";
        repository "repository" set Text "The repository's address.";
        revision "revision" set Text "The branch, tag or commit.\n\nDefault: `\"HEAD\"`.";
        remote "remote" set Text "The name of the remote.\n\nDefault: `\"origin\"`.";
        additional_remotes "additional_remotes" set Map "Further remotes: names and addresses.\n\nDefault: `{}`.";
        depth "depth" set Integer "How many commits of the history are fetched.";
        enable_submodules "enable_submodules" set Boolean "Whether submodules are fetched too.\n\nDefault: `false`.";
        enable_checkout "enable_checkout" set Boolean "Whether the revision is checked out on a local branch.\n\nDefault: `true`.";
        checkout_branch "checkout_branch" set Text "The local branch for the checkout.";
        ssh_wrapper "ssh_wrapper" set Text "A program that git runs in place of ssh.";
    }
    actions {
        action_sync "sync" "Brings the checkout to the revision, or makes it.";
        action_checkout "checkout" "Makes the checkout if it does not exist.";
        action_export "export" "Puts the files of the revision there, without the repository's own data.";
        action_diff "diff" "Shows what differs.";
        action_log "log" "Shows the history.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a local group and its members.
    ///
    /// Default action: `create`.
    Group group "group" "A new `group` resource. The name is also its `group_name`, unless that is set.";
    properties {
        group_name "group_name" set Text "The group's name.\n\nDefault: the resource's name.";
        gid "gid" set TextOrInteger "The group's number.";
        members "members" set TextOrList "The users who belong to it: all of them, unless `append` is set.\n\nDefault: `[]`.";
        excluded_members "excluded_members" set TextOrList "With `append`: users who must not belong to it.\n\nDefault: `[]`.";
        append "append" set Boolean "Whether members are added to those that are there.\n\nDefault: `false`.";
        system "system" set Boolean "Whether a new group gets a number from the system's range.\n\nDefault: `false`.";
        non_unique "non_unique" set Boolean "Whether the number may be another group's too.\n\nDefault: `false`.";
        comment "comment" set Text "A remark for the group, where the platform keeps one.";
    }
    actions {
        action_create "create" "Creates the group, or corrects what differs.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the group.";
        action_modify "modify" "Corrects an existing group; it is an error if it does not exist.";
        action_manage "manage" "Corrects the group if there is one.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs code of the cookbook itself while the node converges.
    ///
    /// Default action: `run`.
    GuestBlock guest_block "guest_block" "A new `guest_block` resource. The name is also its `block_name`, unless that is set.";
    properties {
        block_name "block_name" set Text "The block's name.\n\nDefault: the resource's name.";
    }
    actions {
        action_run "run" "Runs the code.";
        action_create "create" "The same as `run`.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Sets the host's name, also in /etc/hosts.
    ///
    /// Default action: `set`.
    Hostname hostname "hostname" "A new `hostname` resource. The name is also its `hostname`, unless that is set.";
    properties {
        hostname "hostname" set Text "The name.\n\nDefault: the resource's name.";
        fqdn "fqdn" set Text "The full name, where it is more than the name.";
        ipaddress "ipaddress" set Text "The address that the name stands for in /etc/hosts.\n\nDefault: the node's own address.";
        aliases "aliases" set List "Further names in the line of /etc/hosts.\n\nDefault: `nil`.";
        windows_reboot "windows_reboot" set Boolean "Whether the node is started again (Windows only).\n\nDefault: `true`.";
        domain_user "domain_user" set Text "A user who may rename the node (Windows only).";
        domain_password "domain_password" set Text "The user's password (Windows only).\n\nNever shown.";
    }
    actions {
        action_set "set" "Sets the name.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Sends an HTTP request each time.
    ///
    /// Default action: `get`.
    HttpRequest http_request "http_request" "A new `http_request` resource. The name is also its `message`, unless that is set.";
    properties {
        url "url" set Text "The address.";
        headers "headers" set Map "Headers of the request.\n\nDefault: `{}`.";
        message "message" set Anything "The body of requests that have one; a map or list is sent as JSON.\n\nDefault: the resource's name.";
    }
    actions {
        action_get "get" "Sends GET.";
        action_patch "patch" "Sends PATCH with the message.";
        action_put "put" "Sends PUT with the message.";
        action_post "post" "Sends POST with the message.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Sends DELETE.";
        action_head "head" "Sends HEAD.";
        action_options "options" "Sends OPTIONS.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a kernel module: whether it is loaded, now and when the system starts.
    ///
    /// Default action: `install`.
    KernelModule kernel_module "kernel_module" "A new `kernel_module` resource. The name is also its `modname`, unless that is set.";
    properties {
        modname "modname" set Text "The module's name.\n\nDefault: the resource's name.";
        options "options" set List "Options of the module.";
        load_dir "load_dir" set Text "The folder of files that load modules at the start.\n\nDefault: `\"/etc/modules-load.d\"`.";
        unload_dir "unload_dir" set Text "The folder of files that keep modules from being loaded.\n\nDefault: `\"/etc/modprobe.d\"`.";
    }
    actions {
        action_install "install" "Loads the module, and at every start.";
        action_uninstall "uninstall" "Unloads the module and loads it no more at the start.";
        action_blacklist "blacklist" "Keeps the module from being loaded on its own.";
        action_disable "disable" "Keeps the module from being loaded at all.";
        action_enable "enable" "Undoes `disable`.";
        action_load "load" "Loads the module now.";
        action_unload "unload" "Unloads the module now.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with `ksh`. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Ksh ksh "ksh" "A new `ksh` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: `\"ksh\"`.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a symbolic or hard link.
    ///
    /// Default action: `create`.
    Link link "link" "A new `link` resource. The name is also its `target_file`, unless that is set.";
    properties {
        target_file "target_file" set Text "The path of the link itself.\n\nDefault: the resource's name.";
        to "to" set Text "What the link points to. A hard link needs the right to that file too.";
        link_type "link_type" set Text "A symbolic or a hard link.\n\nOne of `symbolic`, `hard`. Default: `:symbolic`.";
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
    }
    actions {
        action_create "create" "Creates the link, or points it elsewhere.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the link, never what it points to.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a local user, as `user` does.
    ///
    /// Default action: `create`.
    LinuxUser linux_user "linux_user" "A new `linux_user` resource. The name is also its `username`, unless that is set.";
    properties {
        username "username" set Text "The user's name.\n\nDefault: the resource's name.";
        comment "comment" set Text "The comment field of the account: the full name, telephone numbers.";
        uid "uid" set TextOrInteger "The user's number.";
        gid "gid" set TextOrInteger "The primary group, by name or number.";
        home "home" set Text "The home directory.";
        shell "shell" set Text "The login shell.";
        password "password" set Text "The password's hash, as in `/etc/shadow`.\n\nNever shown.";
        salt "salt" set Text "The password's salt (macOS only).";
        non_unique "non_unique" set Boolean "Whether the number may be another user's too.\n\nDefault: `false`.";
        manage_home "manage_home" set Boolean "Whether the home directory is created, moved and removed with the user.\n\nDefault: `false`.";
        force "force" set Boolean "Whether a user who is logged in is removed, with home directory and mail.\n\nDefault: `false`.";
        system "system" set Boolean "Whether a new user gets a number from the system's range.\n\nDefault: `false`.";
        expire_date "expire_date" set Text "The day on which the account expires, as YYYY-MM-DD.";
        inactive "inactive" set TextOrInteger "Days after the password has expired until the account is closed; 0 closes it at once, -1 never.";
    }
    actions {
        action_create "create" "Creates the user, or corrects what differs.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the user.";
        action_modify "modify" "Corrects an existing user; it is an error if it does not exist.";
        action_manage "manage" "Corrects the user if there is one.";
        action_lock "lock" "Locks the user's password.";
        action_unlock "unlock" "Unlocks the user's password.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Sets the language and the regional settings of the system.
    ///
    /// Default action: `update`.
    Locale locale "locale" "A new `locale` resource.";
    properties {
        lang "lang" set Text "The language, such as `en_GB.UTF-8`.";
        lc_env "lc_env" set Map "Regional settings: names beginning with LC_ and their values.\n\nDefault: `{}`.";
    }
    actions {
        action_update "update" "Sets the language and the settings.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Writes a message to the run's log. It counts as a change only where it notifies.
    ///
    /// Default action: `write`.
    Log log "log" "A new `log` resource. The name is also its `message`, unless that is set.";
    properties {
        message "message" set Text "The message.\n\nDefault: the resource's name.";
        level "level" set Text "The message's level.\n\nOne of `debug`, `info`, `warn`, `error`, `fatal`. Default: `:info`.";
    }
    actions {
        action_write "write" "Writes the message.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a mounted file system and its line in fstab.
    ///
    /// Default action: `mount`.
    Mount mount "mount" "A new `mount` resource. The name is also its `mount_point`, unless that is set.";
    properties {
        mount_point "mount_point" set Text "Where it is mounted.\n\nDefault: the resource's name.";
        device "device" set Text "The device, label, number or remote share.";
        device_type "device_type" set Text "How `device` names it.\n\nOne of `device`, `label`, `uuid`. Default: `:device`.";
        fstype "fstype" set Text "The kind of file system.\n\nDefault: `\"auto\"`.";
        options "options" set TextOrList "Options of the mount, as a list or separated by commas.\n\nDefault: `[\"defaults\"]`.";
        dump "dump" set BooleanOrInteger "The dump field of fstab.\n\nDefault: `0`.";
        pass "pass" set BooleanOrInteger "The field of fstab that says when the file system is checked.\n\nDefault: `2`.";
        fsck_device "fsck_device" set Text "The device to check (Solaris only).\n\nDefault: `\"-\"`.";
        supports "supports" set ListOrMap "Whether the file system can be mounted again without unmounting.\n\nDefault: `{\"remount\"=>false}`.";
        enabled "enabled" set Boolean "Whether it is listed in fstab.\n\nDefault: `false`.";
        username "username" set Text "The user for a remote share.";
        password "password" set Text "The user's password.\n\nNever shown.";
        domain "domain" set Text "The user's domain.";
    }
    actions {
        action_mount "mount" "Mounts the device unless it is mounted.";
        action_umount "umount" "Unmounts the device.";
        action_unmount "unmount" "The same as `umount`.";
        action_remount "remount" "Mounts the device again, with changed options.";
        action_enable "enable" "Enters the file system in fstab.";
        action_disable "disable" "Removes the file system from fstab.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Does nothing itself and always counts as changed: one name for several notifications.
    ///
    /// Default action: `nothing`.
    NotifyGroup notify_group "notify_group" "A new `notify_group` resource.";
    properties {
    }
    actions {
        action_run "run" "Sends the notifications.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Gathers the node's facts again, for instance after a user was created.
    ///
    /// Default action: `reload`.
    Ohai ohai "ohai" "A new `ohai` resource.";
    properties {
        plugin "plugin" set Text "The group of facts to gather; all if unset.";
    }
    actions {
        action_reload "reload" "Gathers the facts.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Leaves a file that tells the gathering of facts what it cannot find out, such as the cloud's name.
    ///
    /// Default action: `create`.
    OhaiHint ohai_hint "ohai_hint" "A new `ohai_hint` resource. The name is also its `hint_name`, unless that is set.";
    properties {
        hint_name "hint_name" set Text "The hint's name.\n\nDefault: the resource's name.";
        content "content" set Map "What the hint says.";
    }
    actions {
        action_create "create" "Writes the hint.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the hint.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes a file with parameters for Diffie-Hellman key exchange.
    ///
    /// Default action: `create`.
    OpensslDhparam openssl_dhparam "openssl_dhparam" "A new `openssl_dhparam` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0640\"`.";
        key_length "key_length" set Integer "The key's length in bits.\n\nOne of `1024`, `2048`, `4096`, `8192`. Default: `2048`.";
        generator "generator" set Integer "The generator.\n\nOne of `2`, `5`. Default: `2`.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes a private key on an elliptic curve.
    ///
    /// Default action: `create`.
    OpensslEcPrivateKey openssl_ec_private_key "openssl_ec_private_key" "A new `openssl_ec_private_key` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0600\"`.";
        key_curve "key_curve" set Text "The curve of an `ec` key.\n\nOne of `secp384r1`, `secp521r1`, `prime256v1`, `secp224r1`, `secp256k1`. Default: `\"prime256v1\"`.";
        key_pass "key_pass" set Text "The password of the key.\n\nNever shown.";
        key_cipher "key_cipher" set Text "The cipher that protects the key by its password.\n\nDefault: `\"des3\"`.";
        force "force" set Boolean "Whether a key that is there is replaced.\n\nDefault: `false`.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes the public key of a private key on an elliptic curve.
    ///
    /// Default action: `create`.
    OpensslEcPublicKey openssl_ec_public_key "openssl_ec_public_key" "A new `openssl_ec_public_key` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0640\"`.";
        private_key_path "private_key_path" set Text "The private key's file.";
        private_key_content "private_key_content" set Text "The private key itself.\n\nNever shown.";
        private_key_pass "private_key_pass" set Text "The password of the private key.\n\nNever shown.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes a private RSA key.
    ///
    /// Default action: `create`.
    OpensslRsaPrivateKey openssl_rsa_private_key "openssl_rsa_private_key" "A new `openssl_rsa_private_key` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0600\"`.";
        key_length "key_length" set Integer "The key's length in bits.\n\nOne of `1024`, `2048`, `4096`, `8192`. Default: `2048`.";
        key_pass "key_pass" set Text "The password of the key.\n\nNever shown.";
        key_cipher "key_cipher" set Text "The cipher that protects the key by its password.\n\nDefault: `\"des3\"`.";
        force "force" set Boolean "Whether a key that is there is replaced.\n\nDefault: `false`.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes the public key of a private RSA key.
    ///
    /// Default action: `create`.
    OpensslRsaPublicKey openssl_rsa_public_key "openssl_rsa_public_key" "A new `openssl_rsa_public_key` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0640\"`.";
        private_key_path "private_key_path" set Text "The private key's file.";
        private_key_content "private_key_content" set Text "The private key itself.\n\nNever shown.";
        private_key_pass "private_key_pass" set Text "The password of the private key.\n\nNever shown.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes a certificate, signed by itself or by a given authority.
    ///
    /// Default action: `create`.
    OpensslX509Certificate openssl_x509_certificate "openssl_x509_certificate" "A new `openssl_x509_certificate` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.";
        country "country" set Text "The country of the subject.";
        state "state" set Text "The state of the subject.";
        city "city" set Text "The city of the subject.";
        org "org" set Text "The organisation of the subject.";
        org_unit "org_unit" set Text "The unit of the organisation.";
        common_name "common_name" set Text "The subject's name.";
        email "email" set Text "The subject's mail address.";
        expire "expire" set Integer "How many days the certificate is good.\n\nDefault: `365`.";
        renew_before_expiry "renew_before_expiry" set Integer "How many days before its end the certificate is made anew.";
        extensions "extensions" set Map "Extensions: names, each with `values` and `critical`.\n\nDefault: `{}`.";
        subject_alt_name "subject_alt_name" set List "Further names of the subject, such as `DNS:example.com`.\n\nDefault: `[]`.";
        key_file "key_file" set Text "The file of an existing key; one is made if unset.";
        key_pass "key_pass" set Text "The password of the key.\n\nNever shown.";
        key_type "key_type" set Text "The kind of key.\n\nOne of `rsa`, `ec`. Default: `\"rsa\"`.";
        key_length "key_length" set Integer "The key's length in bits.\n\nOne of `1024`, `2048`, `4096`, `8192`. Default: `2048`.";
        key_curve "key_curve" set Text "The curve of an `ec` key.\n\nOne of `secp384r1`, `secp521r1`, `prime256v1`. Default: `\"prime256v1\"`.";
        csr_file "csr_file" set Text "The file of a request to sign.";
        ca_cert_file "ca_cert_file" set Text "The certificate of the authority that signs.";
        ca_key_file "ca_key_file" set Text "The key of the authority that signs.";
        ca_key_pass "ca_key_pass" set Text "The password of that key.\n\nNever shown.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes an authority's list of revoked certificates.
    ///
    /// Default action: `create`.
    OpensslX509Crl openssl_x509_crl "openssl_x509_crl" "A new `openssl_x509_crl` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.";
        serial_to_revoke "serial_to_revoke" set TextOrInteger "The number of a certificate to revoke.";
        revocation_reason "revocation_reason" set Integer "The reason, by its number.\n\nDefault: `0`.";
        expire "expire" set Integer "How many days the list is good.\n\nDefault: `8`.";
        renewal_threshold "renewal_threshold" set Integer "How many days before its end the list is made anew.\n\nDefault: `1`.";
        ca_cert_file "ca_cert_file" set Text "The authority's certificate.\n\nRequired.";
        ca_key_file "ca_key_file" set Text "The authority's key.\n\nRequired.";
        ca_key_pass "ca_key_pass" set Text "The password of that key.\n\nNever shown.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Makes a request for a certificate.
    ///
    /// Default action: `create`.
    OpensslX509Request openssl_x509_request "openssl_x509_request" "A new `openssl_x509_request` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        owner "owner" set TextOrInteger "The file's owner.";
        group "group" set TextOrInteger "The file's group.";
        mode "mode" set Mode "The file's permission bits.";
        country "country" set Text "The country of the subject.";
        state "state" set Text "The state of the subject.";
        city "city" set Text "The city of the subject.";
        org "org" set Text "The organisation of the subject.";
        org_unit "org_unit" set Text "The unit of the organisation.";
        email "email" set Text "The subject's mail address.";
        common_name "common_name" set Text "The subject's name.\n\nRequired.";
        key_file "key_file" set Text "The file of an existing key; one is made if unset.";
        key_pass "key_pass" set Text "The password of the key.\n\nNever shown.";
        key_type "key_type" set Text "The kind of key.\n\nOne of `rsa`, `ec`. Default: `\"ec\"`.";
        key_length "key_length" set Integer "The key's length in bits.\n\nOne of `1024`, `2048`, `4096`, `8192`. Default: `2048`.";
        key_curve "key_curve" set Text "The curve of an `ec` key.\n\nOne of `secp384r1`, `secp521r1`, `prime256v1`. Default: `\"prime256v1\"`.";
    }
    actions {
        action_create "create" "Makes the file, or makes it anew where it does not fit.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages packages with the package manager of the node's platform. A list of names is handled in one transaction.
    ///
    /// Default action: `install`.
    Package package "package" "A new `package` resource. The name is also its `package_name`, unless that is set.";
    properties {
        package_name "package_name" set TextOrList "The package's name, or several.\n\nDefault: the resource's name.";
        version "version" set TextOrList "The version, or one for each name of the list.";
        options "options" set TextOrList "Further arguments for the package manager.";
        source "source" set Text "A package file on the node.";
        timeout "timeout" set TextOrInteger "Seconds after which the package manager is ended.\n\nDefault: 900.";
        environment "environment" set Map "Environment variables for the package manager.\n\nDefault: `{}`.";
        default_release "default_release" set Text "The release that versions are taken from, as `-t` of apt-get.";
        overwrite_config_files "overwrite_config_files" set Boolean "Whether the package's configuration replaces files changed on the node.\n\nDefault: `false`.";
        response_file "response_file" set Text "A template of the cookbook with answers to debconf's questions.";
        response_file_variables "response_file_variables" set Map "What the response file's template sees as its variables.\n\nDefault: `{}`.";
        anchor_package_regex "anchor_package_regex" set Boolean "Whether a name that apt takes as a pattern must match whole names.\n\nDefault: `false`.";
    }
    actions {
        action_install "install" "Installs the package; with a version, exactly that one.";
        action_upgrade "upgrade" "Installs the package or brings it to the newest version.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the package and leaves its configuration.";
        action_purge "purge" "Removes the package and its configuration.";
        action_reconfig "reconfig" "Configures the package again from its response file.";
        action_lock "lock" "Keeps the package at its version.";
        action_unlock "unlock" "Lets the package be upgraded again.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with `perl`. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Perl perl "perl" "A new `perl` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: `\"perl\"`.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with `python`. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Python python "python" "A new `python` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: `\"python\"`.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Starts the node again, at once or after the run.
    ///
    /// Default action: `nothing`.
    Reboot reboot "reboot" "A new `reboot` resource.";
    properties {
        reason "reason" set Text "The reason, for the log.\n\nDefault: `\"Reboot by Chef Infra Client\"`.";
        delay_mins "delay_mins" set Integer "Minutes to wait.\n\nDefault: `0`.";
    }
    actions {
        action_request_reboot "request_reboot" "Starts the node again when the run has ended well.";
        action_reboot_now "reboot_now" "Ends the run and starts the node again.";
        action_cancel "cancel" "Takes back a request.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Copies a folder of a cookbook's `files`, with everything in it.
    ///
    /// Default action: `create`.
    RemoteDirectory remote_directory "remote_directory" "A new `remote_directory` resource. The name is also its `path`, unless that is set.";
    properties {
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
        mode "mode" set Mode "The permission bits, as octal text or a number.";
        path "path" set Text "The directory's path on the node.\n\nDefault: the resource's name.";
        source "source" set Text "The folder's path below `files`.\n\nDefault: the last component of `path`.";
        cookbook "cookbook" set Text "The cookbook that has the source.\n\nDefault: the cookbook that declares the resource.";
        recursive "recursive" set Boolean "Whether missing parents are made, and `delete` removes what is inside.\n\nDefault: `true`.";
        purge "purge" set Boolean "Whether files that the cookbook does not have are removed.\n\nDefault: `false`.";
        overwrite "overwrite" set Boolean "Whether files that differ are replaced.\n\nDefault: `true`.";
        files_backup "files_backup" set BooleanOrInteger "How many earlier versions of each file are kept; false keeps none.\n\nDefault: `5`.";
        files_owner "files_owner" set TextOrInteger "The owner of the files.";
        files_group "files_group" set TextOrInteger "The group of the files.";
        files_mode "files_mode" set Mode "The permission bits of the files; null leaves them to the umask.\n\nDefault: `\"0644\"`.";
    }
    actions {
        action_create "create" "Creates the directory and its files, or corrects what differs.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the directory.";
        action_create_if_missing "create_if_missing" "Creates what is missing; existing files are left alone.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Downloads a file over HTTP or HTTPS, or copies one by a `file:` address.
    ///
    /// Default action: `create`.
    RemoteFile remote_file "remote_file" "A new `remote_file` resource. The name is also its `path`, unless that is set.";
    properties {
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
        mode "mode" set Mode "The permission bits, as octal text or a number.";
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        atomic_update "atomic_update" set Boolean "Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.\n\nDefault: true, but false for files that a container runtime mounts.";
        backup "backup" set BooleanOrInteger "How many earlier versions are kept in the backup folder; false keeps none.\n\nDefault: `5`.";
        force_unlink "force_unlink" set Boolean "Whether something else than a file at the path is removed to make room.\n\nDefault: `false`.";
        manage_symlink_source "manage_symlink_source" set Boolean "Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.";
        verify "verify" append List "A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.";
        diff "diff" set Text "The difference that the last action made, for reports.";
        source "source" set TextOrList "The address; of a list, the first that answers.";
        checksum "checksum" set Text "The SHA-256 digest of the content or its beginning, in hexadecimal: a file that has it is not downloaded again, a download that has not is refused.";
        headers "headers" set Map "Headers of the request.\n\nDefault: `{}`.";
        use_etag "use_etag" set Boolean "Whether the server is asked by its last ETag, so that it need not send the file again.\n\nDefault: `true`.";
        use_last_modified "use_last_modified" set Boolean "Whether the server is asked by the time of the last download.\n\nDefault: `true`.";
        use_conditional_get "use_conditional_get" set Boolean "Sets `use_etag` and `use_last_modified` together.";
        ftp_active_mode "ftp_active_mode" set Boolean "Whether FTP is used in its active mode.\n\nDefault: `false`.";
        show_progress "show_progress" set Boolean "Whether progress is shown.\n\nDefault: `false`.";
        ssl_verify_mode "ssl_verify_mode" set Text "Whether the server's certificate is checked.\n\nOne of `verify_none`, `verify_peer`.";
        remote_user "remote_user" set Text "The user for a share or server that asks for one.";
        remote_domain "remote_domain" set Text "The domain of `remote_user`.";
        remote_password "remote_password" set Text "The password of `remote_user`.\n\nNever shown.";
        authentication "authentication" set Text "Whether `remote_user` is known to the other side or to this node.\n\nOne of `remote`, `local`. Default: `:remote`.";
        http_options "http_options" set Map "Further settings of the request.\n\nDefault: `{}`.";
    }
    actions {
        action_create "create" "Creates the file, or corrects what differs.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the file.";
        action_touch "touch" "Creates the file if it is missing, and sets its times to now.";
        action_create_if_missing "create_if_missing" "Creates the file if it does not exist; an existing one is left alone.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Installs packages from files on the node with rpm, without their dependencies.
    ///
    /// Default action: `install`.
    RpmPackage rpm_package "rpm_package" "A new `rpm_package` resource. The name is also its `package_name`, unless that is set.";
    properties {
        options "options" set TextOrList "Further arguments for the package manager.";
        source "source" set Text "A package file on the node.";
        timeout "timeout" set TextOrInteger "Seconds after which the package manager is ended.\n\nDefault: 900.";
        environment "environment" set Map "Environment variables for the package manager.\n\nDefault: `{}`.";
        package_name "package_name" set Text "The package's name.\n\nDefault: the resource's name.";
        version "version" set Text "The version.";
        allow_downgrade "allow_downgrade" set Boolean "Whether an older version may replace a newer one.\n\nDefault: `true`.";
    }
    actions {
        action_install "install" "Installs the package.";
        action_upgrade "upgrade" "Installs the package or brings it to this version.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the package.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with `ruby`. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Ruby ruby "ruby" "A new `ruby` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: `\"ruby\"`.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Runs a script with a given interpreter. It runs each time unless a guard or `creates` says otherwise.
    ///
    /// Default action: `run`.
    Script script "script" "A new `script` resource.";
    properties {
        creates "creates" set Text "A path: while something exists there, nothing is run.";
        cwd "cwd" set Text "The working directory.";
        environment "environment" set Map "Environment variables, beside those of the run.";
        user "user" set TextOrInteger "The user to run as, by name or number.";
        group "group" set TextOrInteger "The group to run as, by name or number.";
        login "login" set Boolean "Whether the user's groups and login environment apply.\n\nDefault: `false`.";
        live_stream "live_stream" set Boolean "Whether the command's output is shown while it runs.\n\nDefault: `false`.";
        default_env "default_env" set Boolean "Whether PATH and the locale are set as for the run's own commands.\n\nDefault: `false`.";
        input "input" set Text "Text for the command's standard input.";
        returns "returns" set IntegerOrList "The exit status, or a list of them, that means success.\n\nDefault: `0`.";
        timeout "timeout" set Anything "Seconds after which the command is ended.\n\nDefault: `3600`.";
        domain "domain" set Text "The domain of `user` (Windows only).";
        password "password" set Text "The password of `user` (Windows only).\n\nNever shown.";
        elevated "elevated" set Boolean "Whether the command runs with full rights (Windows only).\n\nDefault: `false`.";
        code "code" set Text "The script itself.\n\nRequired.";
        interpreter "interpreter" set Text "The program that runs the script.\n\nDefault: nothing: it must be set.";
        flags "flags" set Text "Arguments for the interpreter, before the script.";
    }
    actions {
        action_run "run" "Runs it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a service: whether it runs, and whether it starts with the system.
    ///
    /// Default action: `nothing`.
    Service service "service" "A new `service` resource. The name is also its `service_name`, unless that is set.";
    properties {
        service_name "service_name" set Text "The service's name in the init system.\n\nDefault: the resource's name.";
        supports "supports" set Map "Which of `restart`, `reload` and `status` the service's init script understands.\n\nDefault: `{\"restart\"=>nil, \"reload\"=>nil, \"status\"=>nil}`.";
        pattern "pattern" set Text "What to look for in the process table where the init system cannot tell whether it runs.\n\nDefault: the same as `service_name`.";
        start_command "start_command" set BooleanOrText "The command that starts it.";
        stop_command "stop_command" set BooleanOrText "The command that stops it.";
        status_command "status_command" set BooleanOrText "The command that tells by its exit status whether it runs.";
        restart_command "restart_command" set BooleanOrText "The command that restarts it.";
        reload_command "reload_command" set BooleanOrText "The command that makes it read its configuration again.";
        init_command "init_command" set Text "The path of its init script.";
        options "options" set TextOrList "Further arguments for the init system's command.";
        priority "priority" set Anything "When it starts and stops in each run level (System V).";
        parameters "parameters" set Map "Parameters for the init system's command (Upstart).";
        run_levels "run_levels" set List "The run levels in which it runs.";
        timeout "timeout" set Integer "Seconds after which a command of the init system is ended.\n\nDefault: `900`.";
        user "user" set Text "The user whose own service manager is meant (systemd).";
    }
    actions {
        action_enable "enable" "Makes the service start with the system.";
        action_disable "disable" "Keeps the service from starting with the system.";
        action_start "start" "Starts the service unless it runs.";
        action_stop "stop" "Stops the service if it runs.";
        action_restart "restart" "Stops the service and starts it again.";
        action_reload "reload" "Makes the service read its configuration again.";
        action_mask "mask" "Makes the service impossible to start (systemd).";
        action_unmask "unmask" "Undoes `mask` (systemd).";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Adds a host's key to those that ssh knows.
    ///
    /// Default action: `create`.
    SshKnownHostsEntry ssh_known_hosts_entry "ssh_known_hosts_entry" "A new `ssh_known_hosts_entry` resource. The name is also its `host`, unless that is set.";
    properties {
        host "host" set Text "The host's name or address.\n\nDefault: the resource's name.";
        key "key" set Text "The host's public key; asked from the host itself if unset.";
        key_type "key_type" set Text "The kind of key to ask for.\n\nDefault: `\"rsa\"`.";
        port "port" set Integer "The host's port.\n\nDefault: `22`.";
        timeout "timeout" set Integer "Seconds to wait for the host.\n\nDefault: `30`.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0644\"`.";
        owner "owner" set TextOrInteger "The file's owner.\n\nDefault: `\"root\"`.";
        group "group" set TextOrInteger "The file's group.\n\nDefault: root's group.";
        hash_entries "hash_entries" set Boolean "Whether the host's name is kept as a digest.\n\nDefault: `false`.";
        file_location "file_location" set Text "The file.\n\nDefault: `\"/etc/ssh/ssh_known_hosts\"`.";
    }
    actions {
        action_create "create" "Adds the key.";
        action_flush "flush" "Writes the keys that were added in this run.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a file in /etc/sudoers.d: who may run what as whom. It is checked before it is put in place.
    ///
    /// Default action: `create`.
    Sudo sudo "sudo" "A new `sudo` resource. The name is also its `filename`, unless that is set.";
    properties {
        filename "filename" set Text "The file's name.\n\nDefault: the resource's name.";
        users "users" set TextOrList "The users who may run the commands.\n\nDefault: `[]`.";
        groups "groups" set TextOrList "The groups whose members may run the commands.\n\nDefault: `[]`.";
        commands "commands" set List "The commands, with their full paths, or names of `command_aliases`.\n\nDefault: `[\"ALL\"]`.";
        host "host" set Text "The host on which the line holds.\n\nDefault: `\"ALL\"`.";
        runas "runas" set Text "As whom the commands may be run.\n\nDefault: `\"ALL\"`.";
        nopasswd "nopasswd" set Boolean "Whether no password is asked.\n\nDefault: `false`.";
        noexec "noexec" set Boolean "Whether the commands are kept from starting others.\n\nDefault: `false`.";
        setenv "setenv" set Boolean "Whether the users may set environment variables.\n\nDefault: `false`.";
        env_keep_add "env_keep_add" set List "Environment variables that are kept.\n\nDefault: `[]`.";
        env_keep_subtract "env_keep_subtract" set List "Environment variables that are not kept.\n\nDefault: `[]`.";
        defaults "defaults" set List "Settings for these users.\n\nDefault: `[]`.";
        command_aliases "command_aliases" set List "Names for groups of commands: maps with `name` and `command_list`.\n\nDefault: `[]`.";
        template "template" set Text "A template of the cookbook for the whole file.";
        variables "variables" set Map "What the template sees as its variables.\n\nDefault: `nil`.";
        config_prefix "config_prefix" set Text "The folder that has sudoers.d.\n\nDefault: /etc, or the platform's own.";
        visudo_binary "visudo_binary" set Text "The program that checks the file.\n\nDefault: `\"/usr/sbin/visudo\"`.";
        #[deprecated = "use visudo_binary"]
        visudo_path "visudo_path" set Text "The former name of `visudo_binary`.";
    }
    actions {
        action_create "create" "Writes the file, or corrects it.";
        action_install "install" "The older name of `create`.";
        action_remove "remove" "The older name of `delete`.";
        action_delete "delete" "Removes the file.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a file that is used as swap space.
    ///
    /// Default action: `create`.
    SwapFile swap_file "swap_file" "A new `swap_file` resource. The name is also its `path`, unless that is set.";
    properties {
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        size "size" set Integer "The size in megabytes.";
        persist "persist" set Boolean "Whether it is used after the next start too.\n\nDefault: `false`.";
        timeout "timeout" set Integer "Seconds after which making the file is ended.\n\nDefault: `600`.";
        swappiness "swappiness" set Integer "How readily the kernel swaps, from 0 to 100.";
    }
    actions {
        action_create "create" "Makes the file and uses it.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Uses the file no more and removes it.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Sets a kernel parameter, now and for the next start.
    ///
    /// Default action: `apply`.
    Sysctl sysctl "sysctl" "A new `sysctl` resource. The name is also its `key`, unless that is set.";
    properties {
        key "key" set Text "The parameter's name.\n\nDefault: the resource's name.";
        value "value" set Anything "The value that the parameter gets.\n\nRequired for `apply`.";
        ignore_error "ignore_error" set Boolean "Whether errors of unknown parameters are ignored (`sysctl -e`).\n\nDefault: `false`.";
        comment "comment" set TextOrList "Remarks above the parameter in the file.\n\nDefault: `[]`.";
        conf_dir "conf_dir" set Text "The folder of the file.\n\nDefault: `\"/etc/sysctl.d\"`.";
    }
    actions {
        action_apply "apply" "Sets the value and writes the file.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the file; the value in use stays.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a unit file of systemd and the unit's state.
    ///
    /// Default action: `nothing`.
    SystemdUnit systemd_unit "systemd_unit" "A new `systemd_unit` resource. The name is also its `unit_name`, unless that is set.";
    properties {
        unit_name "unit_name" set Text "The unit's name with its suffix, such as `collectd.service`.\n\nDefault: the resource's name.";
        user "user" set Text "The user whose own systemd is meant.";
        content "content" set TextOrMap "The unit file: its text, or a map of sections to maps of keys to values.";
        triggers_reload "triggers_reload" set Boolean "Whether systemd reads its units again after a change.\n\nDefault: `true`.";
        verify "verify" set Boolean "Whether systemd-analyze must accept the unit first.\n\nDefault: `true`.";
    }
    actions {
        action_create "create" "Writes the unit file, or corrects it.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the unit file.";
        action_preset "preset" "Enables or disables the unit as the distribution's presets say.";
        action_revert "revert" "Goes back to the distribution's version of the unit.";
        action_enable "enable" "Makes the unit start with the system.";
        action_disable "disable" "Keeps the unit from starting with the system.";
        action_reenable "reenable" "Disables the unit and enables it again.";
        action_mask "mask" "Makes the unit impossible to start.";
        action_unmask "unmask" "Undoes `mask`.";
        action_start "start" "Starts the unit unless it is active.";
        action_stop "stop" "Stops the unit if it is active.";
        action_restart "restart" "Stops the unit and starts it again.";
        action_reload "reload" "Makes the unit read its configuration again.";
        action_try_restart "try_restart" "Restarts the unit if it is active.";
        action_reload_or_restart "reload_or_restart" "Reloads the unit if it can, else restarts it.";
        action_reload_or_try_restart "reload_or_try_restart" "Reloads the unit if it can, else restarts it if it is active.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Writes a file whose content the cookbook renders from one of its templates.
    ///
    /// Default action: `create`.
    Template template "template" "A new `template` resource. The name is also its `path`, unless that is set.";
    properties {
        owner "owner" set TextOrInteger "The owner, as a user's name or number.";
        group "group" set TextOrInteger "The owning group, as a name or number.";
        mode "mode" set Mode "The permission bits, as octal text or a number.";
        path "path" set Text "The file's path.\n\nDefault: the resource's name.";
        atomic_update "atomic_update" set Boolean "Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.\n\nDefault: true, but false for files that a container runtime mounts.";
        backup "backup" set BooleanOrInteger "How many earlier versions are kept in the backup folder; false keeps none.\n\nDefault: `5`.";
        checksum "checksum" set Text "The SHA-256 digest that the content must have, in hexadecimal.";
        force_unlink "force_unlink" set Boolean "Whether something else than a file at the path is removed to make room.\n\nDefault: `false`.";
        manage_symlink_source "manage_symlink_source" set Boolean "Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.";
        verify "verify" append List "A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.";
        diff "diff" set Text "The difference that the last action made, for reports.";
        source "source" set TextOrList "The template's path below `templates`; of a list, the first that exists.\n\nDefault: the last component of the name, with .erb behind it (in Rust .j2).";
        cookbook "cookbook" set Text "The cookbook that has the source.\n\nDefault: the cookbook that declares the resource.";
        local "local" set Boolean "Whether the source is a path on the node instead of one in a cookbook.\n\nDefault: `false`.";
        variables "variables" set Map "What the template sees as its variables.\n\nDefault: `{}`.";
    }
    actions {
        action_create "create" "Creates the file, or corrects what differs.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the file.";
        action_touch "touch" "Creates the file if it is missing, and sets its times to now.";
        action_create_if_missing "create_if_missing" "Creates the file if it does not exist; an existing one is left alone.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Sets the node's time zone.
    ///
    /// Default action: `set`.
    Timezone timezone "timezone" "A new `timezone` resource. The name is also its `timezone`, unless that is set.";
    properties {
        timezone "timezone" set Text "The zone's name, such as `Europe/Berlin`.\n\nDefault: the resource's name.";
    }
    actions {
        action_set "set" "Sets the time zone.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a local user.
    ///
    /// Default action: `create`.
    User user "user" "A new `user` resource. The name is also its `username`, unless that is set.";
    properties {
        username "username" set Text "The user's name.\n\nDefault: the resource's name.";
        comment "comment" set Text "The comment field of the account: the full name, telephone numbers.";
        uid "uid" set TextOrInteger "The user's number.";
        gid "gid" set TextOrInteger "The primary group, by name or number.";
        home "home" set Text "The home directory.";
        shell "shell" set Text "The login shell.";
        password "password" set Text "The password's hash, as in `/etc/shadow`.\n\nNever shown.";
        salt "salt" set Text "The password's salt (macOS only).";
        non_unique "non_unique" set Boolean "Whether the number may be another user's too.\n\nDefault: `false`.";
        manage_home "manage_home" set Boolean "Whether the home directory is created, moved and removed with the user.\n\nDefault: `false`.";
        force "force" set Boolean "Whether a user who is logged in is removed, with home directory and mail.\n\nDefault: `false`.";
        system "system" set Boolean "Whether a new user gets a number from the system's range.\n\nDefault: `false`.";
        expire_date "expire_date" set Text "The day on which the account expires, as YYYY-MM-DD.";
        inactive "inactive" set TextOrInteger "Days after the password has expired until the account is closed; 0 closes it at once, -1 never.";
    }
    actions {
        action_create "create" "Creates the user, or corrects what differs.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the user.";
        action_modify "modify" "Corrects an existing user; it is an error if it does not exist.";
        action_manage "manage" "Corrects the user if there is one.";
        action_lock "lock" "Locks the user's password.";
        action_unlock "unlock" "Unlocks the user's password.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages a file in /etc/security/limits.d that limits what one user may use.
    ///
    /// Default action: `create`.
    UserUlimit user_ulimit "user_ulimit" "A new `user_ulimit` resource. The name is also its `username`, unless that is set.";
    properties {
        username "username" set Text "The user, or `*` for all.\n\nDefault: the resource's name.";
        filename "filename" set Text "The name of the file below `limits.d`.\n\nDefault: the user's name and _limits.conf, or 00_all_limits.conf.";
        as_limit "as_limit" set TextOrInteger "The address space in KiB, soft and hard.";
        as_soft_limit "as_soft_limit" set TextOrInteger "The address space in KiB, soft.";
        as_hard_limit "as_hard_limit" set TextOrInteger "The address space in KiB, hard.";
        filehandle_limit "filehandle_limit" set TextOrInteger "The most open files, soft and hard.";
        filehandle_soft_limit "filehandle_soft_limit" set TextOrInteger "The most open files, soft.";
        filehandle_hard_limit "filehandle_hard_limit" set TextOrInteger "The most open files, hard.";
        process_limit "process_limit" set TextOrInteger "The most processes of the user, soft and hard.";
        process_soft_limit "process_soft_limit" set TextOrInteger "The most processes of the user, soft.";
        process_hard_limit "process_hard_limit" set TextOrInteger "The most processes of the user, hard.";
        locks_limit "locks_limit" set TextOrInteger "The most file locks, soft and hard.";
        memory_limit "memory_limit" set TextOrInteger "Locked memory in KiB, soft and hard.";
        maxlogins_limit "maxlogins_limit" set TextOrInteger "The most logins at once, soft and hard.";
        maxlogins_soft_limit "maxlogins_soft_limit" set TextOrInteger "The most logins at once, soft.";
        maxlogins_hard_limit "maxlogins_hard_limit" set TextOrInteger "The most logins at once, hard.";
        msgqueue_limit "msgqueue_limit" set TextOrInteger "Bytes in message queues, soft and hard.";
        msgqueue_soft_limit "msgqueue_soft_limit" set TextOrInteger "Bytes in message queues, soft.";
        msgqueue_hard_limit "msgqueue_hard_limit" set TextOrInteger "Bytes in message queues, hard.";
        core_limit "core_limit" set TextOrInteger "The size of core dumps in KiB, soft and hard.";
        core_soft_limit "core_soft_limit" set TextOrInteger "The size of core dumps in KiB, soft.";
        core_hard_limit "core_hard_limit" set TextOrInteger "The size of core dumps in KiB, hard.";
        cpu_limit "cpu_limit" set TextOrInteger "Minutes of processor time, soft and hard.";
        cpu_soft_limit "cpu_soft_limit" set TextOrInteger "Minutes of processor time, soft.";
        cpu_hard_limit "cpu_hard_limit" set TextOrInteger "Minutes of processor time, hard.";
        sigpending_limit "sigpending_limit" set TextOrInteger "The most pending signals, soft and hard.";
        sigpending_soft_limit "sigpending_soft_limit" set TextOrInteger "The most pending signals, soft.";
        sigpending_hard_limit "sigpending_hard_limit" set TextOrInteger "The most pending signals, hard.";
        stack_limit "stack_limit" set TextOrInteger "The size of the stack in KiB, soft and hard.";
        stack_soft_limit "stack_soft_limit" set TextOrInteger "The size of the stack in KiB, soft.";
        stack_hard_limit "stack_hard_limit" set TextOrInteger "The size of the stack in KiB, hard.";
        rss_limit "rss_limit" set TextOrInteger "Resident memory in KiB, soft and hard.";
        rss_soft_limit "rss_soft_limit" set TextOrInteger "Resident memory in KiB, soft.";
        rss_hard_limit "rss_hard_limit" set TextOrInteger "Resident memory in KiB, hard.";
        rtprio_limit "rtprio_limit" set TextOrInteger "Real-time priority, soft and hard.";
        rtprio_soft_limit "rtprio_soft_limit" set TextOrInteger "Real-time priority, soft.";
        rtprio_hard_limit "rtprio_hard_limit" set TextOrInteger "Real-time priority, hard.";
        virt_limit "virt_limit" set TextOrInteger "Virtual memory, soft and hard.";
    }
    actions {
        action_create "create" "Writes the file, or corrects it.";
        #[doc(alias = "action_remove")]
        action_delete "delete" "Removes the file of limits.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Manages packages with yum. A list of names is handled in one transaction.
    ///
    /// Default action: `install`.
    YumPackage yum_package "yum_package" "A new `yum_package` resource. The name is also its `package_name`, unless that is set.";
    properties {
        package_name "package_name" set TextOrList "The package's name, or several.\n\nDefault: the resource's name.";
        version "version" set TextOrList "The version, or one for each name of the list.";
        options "options" set TextOrList "Further arguments for the package manager.";
        source "source" set Text "A package file on the node.";
        timeout "timeout" set TextOrInteger "Seconds after which the package manager is ended.\n\nDefault: 900.";
        environment "environment" set Map "Environment variables for the package manager.\n\nDefault: `{}`.";
        arch "arch" set TextOrList "The architecture, or one for each name of the list.";
        flush_cache "flush_cache" set Map "Whether the index is fetched again before or after the action.\n\nDefault: `{\"before\"=>false, \"after\"=>false}`.";
        allow_downgrade "allow_downgrade" set Boolean "Whether an older version may replace a newer one.\n\nDefault: `true`.";
        yum_binary "yum_binary" set Text "The yum program: `yum` or `dnf`.";
    }
    actions {
        action_install "install" "Installs the package; with a version, exactly that one.";
        action_upgrade "upgrade" "Installs the package or brings it to the newest version.";
        #[doc(alias = "action_delete")]
        action_remove "remove" "Removes the package and leaves its configuration.";
        action_purge "purge" "Removes the package and its configuration.";
        action_lock "lock" "Keeps the package at its version.";
        action_unlock "unlock" "Lets the package be upgraded again.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}

resource! {
    /// Adds a source of packages to yum and dnf.
    ///
    /// Default action: `create`.
    YumRepository yum_repository "yum_repository" "A new `yum_repository` resource. The name is also its `repositoryid`, unless that is set.";
    properties {
        repositoryid "repositoryid" set Text "The source's name in square brackets.\n\nDefault: the resource's name.";
        reposdir "reposdir" set Text "The folder of the file.\n\nDefault: `\"/etc/yum.repos.d/\"`.";
        baseurl "baseurl" set TextOrList "The addresses.";
        metalink "metalink" set Text "The address of a metalink file.";
        mirrorlist "mirrorlist" set Text "The address of a list of mirrors.";
        mirrorlist_expire "mirrorlist_expire" set Text "How long the list of mirrors is good.";
        mirror_expire "mirror_expire" set Text "How long a mirror's answer is good.";
        metadata_expire "metadata_expire" set Text "How long the index is good.";
        description "description" set Text "The source's name for people.\n\nDefault: `\"Yum Repository\"`.";
        enabled "enabled" set Boolean "Whether the source is used.\n\nDefault: `true`.";
        enablegroups "enablegroups" set Boolean "Whether the source may define package groups.";
        exclude "exclude" set Text "Packages that are not taken from it.";
        includepkgs "includepkgs" set Text "The only packages that are taken from it.";
        failovermethod "failovermethod" set Text "How the next address is chosen.\n\nOne of `priority`, `roundrobin`.";
        fastestmirror_enabled "fastestmirror_enabled" set Boolean "Whether the fastest mirror is looked for.";
        gpgcheck "gpgcheck" set Boolean "Whether packages must be signed.\n\nDefault: `true`.";
        repo_gpgcheck "repo_gpgcheck" set Boolean "Whether the index must be signed.";
        gpgkey "gpgkey" set TextOrList "The addresses of the signing keys.";
        http_caching "http_caching" set Text "What a proxy may keep.\n\nOne of `packages`, `all`, `none`.";
        include_config "include_config" set Text "A further configuration file to read.";
        keepalive "keepalive" set Boolean "Whether connections are kept.";
        make_cache "make_cache" set Boolean "Whether the index is fetched after a change.\n\nDefault: `true`.";
        makecache_fast "makecache_fast" set Boolean "Whether only what is needed of the index is fetched.\n\nDefault: `false`.";
        clean_metadata "clean_metadata" set Boolean "Whether the old index is removed before.\n\nDefault: `true`.";
        #[deprecated = "it does nothing any more"]
        clean_headers "clean_headers" set Boolean "Whether old headers are removed before.\n\nDefault: `false`.";
        max_retries "max_retries" set TextOrInteger "How often an address is tried again.";
        cost "cost" set Text "How dear the source is, compared with others.";
        priority "priority" set Text "The source's rank, from 1 to 99.";
        mode "mode" set Mode "The file's permission bits.\n\nDefault: `\"0644\"`.";
        options "options" set Map "Further settings of the source.";
        username "username" set Text "The user for the source.";
        password "password" set Text "The user's password.\n\nNever shown.";
        proxy "proxy" set Text "The proxy's address.";
        proxy_username "proxy_username" set Text "The user for the proxy.";
        proxy_password "proxy_password" set Text "The password for the proxy.\n\nNever shown.";
        report_instanceid "report_instanceid" set Boolean "Whether the cloud's number of the node is sent along.";
        skip_if_unavailable "skip_if_unavailable" set Boolean "Whether a source that does not answer is left out.";
        source "source" set Text "A template of the cookbook for the whole file.";
        sslverify "sslverify" set Boolean "Whether the server's certificate is checked.";
        sslcacert "sslcacert" set Text "The folder of trusted certificates.";
        sslclientcert "sslclientcert" set Text "The certificate shown to the server.";
        sslclientkey "sslclientkey" set Text "The key of that certificate.";
        throttle "throttle" set TextOrInteger "How much of the network may be used.";
        timeout "timeout" set Text "Seconds to wait for the server.";
    }
    actions {
        action_create "create" "Writes the source's file, or corrects it.";
        action_remove "remove" "Removes the source's file and cleans its cache.";
        action_makecache "makecache" "Fetches the source's index.";
        action_add "add" "The older name of `create`.";
        action_delete "delete" "The older name of `remove`.";
        action_nothing "nothing" "Does nothing until a notification asks for another action.";
    }
}
