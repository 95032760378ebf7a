//! `archive_file`: archives of all kinds, and some that attack whoever unpacks them.

use crate::pack::pack;
use crate::support::{Bench, exists};
use contract::Certainty;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

fn shell(bench: &Bench, script: &str) {
    let output = Command::new("sh").args(["-e", "-c", script]).current_dir(&bench.root).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A folder `top` with files and links, to be packed.
fn bench(table: &str) -> Bench {
    let bench = Bench::whole(table);
    shell(
        &bench,
        "mkdir -p top/sub; echo 1 > top/one; echo 2 > top/sub/two; ln -s one top/link; ln top/one top/same
         chmod 4751 top/sub/two; touch -d @1500000000 top/one top/sub top/sub/two",
    );
    bench
}

fn machine() -> Bench {
    bench("").unlimited()
}

fn into(folder: &str) -> Value {
    json!({"destination": format!("ROOT/{folder}")})
}

fn read(bench: &Bench, path: &str) -> String {
    bench.read(path)
}

#[test]
fn archives_of_all_kinds_are_unpacked() {
    let bench = machine();
    for (number, name) in pack(&bench).into_iter().enumerate() {
        let out = format!("out{number}");
        let done = bench.run("archive_file", &format!("ROOT/{name}"), "extract", into(&out)).unwrap();
        let expect = [format!("create directory ROOT/{out}"), format!("extract ROOT/{name} to ROOT/{out}")];
        assert_eq!(done.sentences(), expect.map(|sentence| bench.text(&sentence)));
        assert_eq!(read(&bench, &format!("{out}/top/one")), "1\n", "{name}");
        assert_eq!(read(&bench, &format!("{out}/top/link")), "1\n");
        assert_eq!(std::fs::read_link(bench.path(&format!("{out}/top/link"))).unwrap().to_str(), Some("one"));
        let two = bench.path(&format!("{out}/top/sub/two")).metadata().unwrap();
        assert_eq!((two.mtime(), two.permissions().mode() & 0o7777, two.uid()), (1_500_000_000, 0o751, 0), "{name}");
        assert_eq!(bench.path(&format!("{out}/top/sub")).metadata().unwrap().mtime(), 1_500_000_000, "{name}");
        let again = bench.run("archive_file", &format!("ROOT/{name}"), "extract", into(&out)).unwrap();
        assert!(!again.updated, "{name}");
    }
    let same = |path: &str| bench.path(path).metadata().unwrap().ino();
    assert_eq!(same("out0/top/one"), same("out0/top/same"), "a further name is not a copy");
}

#[test]
fn the_properties_that_decide_how() {
    let bench = machine();
    shell(&bench, "tar cf x.tar top/one top/sub/two");
    let run = |properties: Value| bench.run("archive_file", "ROOT/x.tar", "extract", properties).unwrap();
    run(json!({"destination": "ROOT/a/b", "strip_components": 1, "mode": "0700"}));
    assert_eq!((read(&bench, "a/b/one").as_str(), read(&bench, "a/b/sub/two").as_str()), ("1\n", "2\n"));
    assert_eq!(bench.path("a/b").metadata().unwrap().permissions().mode() & 0o777, 0o700);
    run(json!({"destination": "ROOT/kept", "options": ["permissions", "time"]}));
    assert_eq!(bench.path("kept/top/sub/two").metadata().unwrap().permissions().mode() & 0o7777, 0o4751);
    shell(&bench, "echo mine > kept/top/one");
    assert!(!run(into("kept")).updated);
    assert!(run(json!({"destination": "ROOT/kept", "overwrite": "auto"})).updated);
    assert_eq!(read(&bench, "kept/top/one"), "1\n");
    assert!(!run(json!({"destination": "ROOT/kept", "overwrite": "auto"})).updated);
    shell(&bench, "touch -d @$(stat -c %Y kept/top/one).5 kept/top/one");
    assert!(run(json!({"destination": "ROOT/kept", "overwrite": "auto"})).updated, "half a second is another time");
    shell(&bench, "echo mine > kept/top/one");
    assert!(run(json!({"destination": "ROOT/kept", "overwrite": true, "options": ["no_overwrite"]})).updated);
    assert_eq!(read(&bench, "kept/top/one"), "mine\n");
    assert!(run(json!({"destination": "ROOT/kept", "overwrite": true})).updated);
    assert_eq!(read(&bench, "kept/top/one"), "1\n");
    let done = run(json!({"destination": "ROOT/kept", "owner": "nobody", "group": "daemon"}));
    assert_eq!(done.sentences(), [bench.text("set owner of files extracted in ROOT/kept to nobody:daemon")]);
    let one = bench.path("kept/top/one").metadata().unwrap();
    assert_eq!((one.uid(), one.gid()), (65534, 1));
}

#[test]
fn failures_have_chefs_class_and_words() {
    let bench = machine();
    let raised = bench.run("archive_file", "ROOT/x.tar", "extract", into("out")).unwrap_err();
    let expect = bench.text("No such file or directory - No archive found at ROOT/x.tar! Cannot continue.");
    assert_eq!((raised.class(), &raised.message), ("Errno::ENOENT", &expect));
    shell(
        &bench,
        "echo 'this is not an archive, it is only text that is long enough' > x.tar; head -c 700 /dev/zero | tr '\\0' x >> x.tar",
    );
    let raised = bench.run("archive_file", "ROOT/x.tar", "extract", into("out")).unwrap_err();
    assert_eq!(raised.class(), "Archive::Error");
    assert!(!exists(&bench.path("out")), "what cannot be unpacked makes nothing");
}

#[test]
fn nothing_leads_out_of_the_destination() {
    let bench = machine();
    shell(&bench, "mkdir victim; echo theirs > victim/file; echo evil > file");
    let attacks = [
        ("tar cPf x.tar ../root/file", "leads out"),
        ("tar cPf x.tar $PWD/file", "leads out"),
        // A link to elsewhere, and a file through it.
        ("rm -rf d; ln -s ../victim d; tar cf x.tar d; rm d; mkdir d; cp file d; tar rf x.tar d/file", ""),
        // A further name of what is elsewhere.
        ("ln victim/file hard; tar cPf x.tar --transform 's,^victim,../victim,' victim/file hard; rm hard", ""),
        ("mkfifo pipe; tar cf x.tar pipe; rm pipe", "neither file"),
    ];
    for (number, (command, why)) in attacks.into_iter().enumerate() {
        shell(&bench, command);
        let raised = bench.run("archive_file", "ROOT/x.tar", "extract", into(&format!("out{number}"))).unwrap_err();
        assert!(raised.message.contains(why), "{command}: {raised:?}");
        assert_eq!(read(&bench, "victim/file"), "theirs\n", "{command}");
        assert_eq!(bench.path("victim").read_dir().unwrap().count(), 1, "{command}");
    }
}

#[test]
fn a_dry_run_unpacks_nothing() {
    let bench = machine();
    shell(&bench, "tar cf x.tar top");
    let done = bench.why_run("archive_file", "ROOT/x.tar", "extract", into("out")).unwrap();
    assert_eq!(done.changes.len(), 2);
    assert!(!exists(&bench.path("out")));
    let mut providers = bench.providers(true);
    let mut foresee = |kind: &str, name: &str, properties: Value, action: &str| {
        crate::support::run(&mut providers, &bench.declaration(kind, name, properties), action, true)
    };
    foresee("file", "ROOT/y.tar", json!({"content": "x"}), "create").unwrap();
    let done = foresee("archive_file", "ROOT/y.tar", into("out"), "extract").unwrap();
    assert!(matches!(done.certainty.as_slice(), [Certainty::Assumed(_)]), "{done:?}");
    // What the archive would have brought is taken for granted, too.
    let inside = foresee("git", "ROOT/out/a/b", json!({"repository": "ROOT/nowhere"}), "sync");
    assert!(inside.is_err_and(|raised| raised.message.contains("ls-remote")));
    std::fs::create_dir(bench.path("there")).unwrap();
    let mut into_there = |properties: Value| {
        let mut all = into("there");
        all.as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
        foresee("archive_file", "ROOT/y.tar", all, "extract").unwrap().certainty
    };
    assert_eq!(into_there(json!({})), [], "its destination is there: nothing is unpacked");
    assert!(matches!(into_there(json!({"overwrite": true})).as_slice(), [Certainty::Assumed(_)]));
    assert!(matches!(into_there(json!({"overwrite": "auto"})).as_slice(), [Certainty::Unknown(_)]));
}

#[test]
fn source_and_destination_are_granted_apart() {
    let bench = bench("paths = [\"ROOT/out/**\"]\nread_paths = [\"ROOT/x.tar\"]");
    shell(&bench, "tar cf x.tar top; cp x.tar y.tar");
    bench.run("archive_file", "ROOT/x.tar", "extract", into("out/a")).unwrap();
    let set_id = json!({"destination": "ROOT/out/b", "options": ["permissions"]});
    for (name, properties) in [("ROOT/y.tar", into("out/c")), ("ROOT/x.tar", into("elsewhere")), ("ROOT/x.tar", set_id)]
    {
        let raised = bench.run("archive_file", name, "extract", properties).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{name}");
    }
    let partly = Bench::whole(
        &bench.text("paths = [\"ROOT/out/**\"]\nread_paths = [\"ROOT/x.tar\"]\ndeny_paths = [\"ROOT/out/d/top/one\"]"),
    );
    let properties = json!({"destination": bench.text("ROOT/out/d")});
    let raised = partly.run("archive_file", &bench.text("ROOT/x.tar"), "extract", properties).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied");
    assert!(!exists(&bench.path("out/d")));
}

/// A zip states its entries in a directory at its end, which is in memory as a whole before any of them is seen.
#[test]
fn archive_names_of_a_zip_are_bounded_before_they_are_read() {
    let bench = machine();
    let mut zip = zip::ZipWriter::new(std::fs::File::create(bench.path("long.zip")).unwrap());
    for number in 0..5000 {
        let name = format!("{number}/{}", "x".repeat(4000));
        zip.add_directory(name, zip::write::SimpleFileOptions::default()).unwrap();
    }
    zip.finish().unwrap();
    let raised = bench.run("archive_file", "ROOT/long.zip", "extract", into("out")).unwrap_err();
    assert!(raised.message.contains("directory is too long"), "{}", raised.message);
    assert!(!exists(&bench.path("out/0")));
}

/// Undoing the compression of a few bytes may ask for a gibibyte.
#[test]
fn archive_names_compression_that_wants_much_memory_is_refused() {
    let bench = machine();
    let write = |name: &str, dictionary: u32| {
        let mut options = lzma_rust2::XzOptions::with_preset(0);
        options.lzma_options.dict_size = dictionary;
        let mut xz = lzma_rust2::XzWriter::new(vec![], options).unwrap();
        std::io::Write::write_all(&mut xz, &[0; 1024]).unwrap();
        std::fs::write(bench.path(name), xz.finish().unwrap()).unwrap();
    };
    write("small.xz", 64 << 20);
    write("large.xz", 256 << 20);
    let run = |name: &str| bench.run("archive_file", &format!("ROOT/{name}.xz"), "extract", into(name));
    run("small").unwrap();
    let raised = run("large").unwrap_err();
    assert!(raised.message.to_lowercase().contains("memory"), "{}", raised.message);
}

/// A further name in an archive is a further name of what is there already.
#[test]
fn attack_a_hard_link_in_an_archive_reads_and_gives_away_nothing_else() {
    let bench = Bench::whole(
        "paths = [\"ROOT/app/**\"]\nread_paths = [\"ROOT/*.tar\"]\ndeny_read_paths = [\"ROOT/app/secret\"]\nusers = [\"daemon\"]\n",
    );
    shell(
        &bench,
        "mkdir app other t; echo s3cret > app/secret; echo theirs > app/ledger; ln app/ledger other/ledger
         for name in secret ledger; do echo x > t/$name; ln t/$name t/more-$name
         tar cf $name.tar -C t $name more-$name; tar --delete -f $name.tar $name; done",
    );
    let unpack = |name: &str, more: Value| {
        let mut properties = json!({"destination": bench.text("ROOT/app"), "overwrite": "true"});
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bench.run("archive_file", &format!("ROOT/{name}.tar"), "extract", properties)
    };
    let raised = unpack("secret", json!({})).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
    assert!(!exists(&bench.path("app/more-secret")));
    let raised = unpack("ledger", json!({"owner": "daemon"})).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
    assert_eq!(bench.path("other/ledger").metadata().unwrap().uid(), 0);
}
