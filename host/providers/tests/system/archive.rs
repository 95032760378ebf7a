//! Debian packages and an archive of them, made on the spot: small, always the same, and no mirror is asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// A package about to be made.
#[derive(Default)]
pub(crate) struct Package<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    /// Further control fields, each a line.
    pub(crate) fields: &'a str,
    /// Path without the first slash, content, permission bits.
    pub(crate) files: &'a [(&'a str, &'a str, u32)],
    /// Names and texts of maintainer scripts, and `conffiles`.
    pub(crate) scripts: &'a [(&'a str, &'a str)],
}

impl Package<'_> {
    /// Writes the package into a folder; its file's name.
    pub(crate) fn make(&self, folder: &Path) -> String {
        let build = tempfile::tempdir().unwrap();
        for (path, content, mode) in self.files {
            let path = build.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        let control = build.path().join("DEBIAN");
        fs::create_dir_all(&control).unwrap();
        fs::set_permissions(build.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (name, version, fields) = (self.name, self.version, self.fields);
        let text = format!(
            "Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: A <a@example.org>\n{fields}Description: test\n"
        );
        fs::write(control.join("control"), text).unwrap();
        for (script, text) in self.scripts {
            let mode = if *script == "conffiles" { 0o644 } else { 0o755 };
            fs::write(control.join(script), text).unwrap();
            fs::set_permissions(control.join(script), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir_all(folder).unwrap();
        let file = format!("{name}_{}_all.deb", version.replace(':', "%3a"));
        run(Command::new("dpkg-deb").args(["--build", "-Zgzip"]).arg(build.path()).arg(folder.join(&file)));
        file
    }
}

/// Makes the packages into `/srv/archive` of a root, and that its only source. apt's lists are not refreshed.
pub(crate) fn publish(root: &specs::Root, packages: &[Package<'_>]) {
    let folder = root.at("/srv/archive").unwrap();
    for package in packages {
        package.make(&folder);
    }
    index(root);
    for name in ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list.d/0000debian.sources"] {
        let _absent = fs::remove_file(root.at(name).unwrap());
    }
    root.write("/etc/apt/sources.list", "deb [trusted=yes] copy:/srv/archive ./\n").unwrap();
}

/// Writes the archive's index anew: what is in the folder now.
pub(crate) fn index(root: &specs::Root) {
    let folder = root.at("/srv/archive").unwrap();
    let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    files.sort();
    let mut text = String::new();
    for path in files {
        let control = run(Command::new("dpkg-deb").arg("-f").arg(&path));
        let sum = run(Command::new("sha256sum").arg(&path));
        let sum = sum.split(' ').next().unwrap().to_owned();
        let (name, size) = (path.file_name().unwrap().to_str().unwrap(), fs::metadata(&path).unwrap().len());
        text.push_str(&format!("{}\nFilename: ./{name}\nSize: {size}\nSHA256: {sum}\n\n", control.trim_end()));
    }
    fs::write(folder.join("Packages"), text).unwrap();
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
