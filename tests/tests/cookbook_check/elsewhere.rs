//! Code for other systems than Linux.

use super::{check, expect};

#[test]
fn libraries_of_windows_are_for_windows_like_their_use() {
    let library = "module Web\n  def self.go\n    require 'win32ole'\n    WIN32OLE.new('a')\n  end\nend\n";
    let files = [
        ("metadata.rb", "name 'web'\n"),
        ("libraries/web.rb", library),
        ("recipes/other.rb", "require 'win32/registry'\nlog 'a'\n"),
    ];
    let report = check(&files, &[], 0);
    let notes = [
        ("library libraries/web.rb:3", "`win32ole` cannot be required"),
        ("sandbox libraries/web.rb:4", "`WIN32OLE`: the sandbox has no Windows"),
        ("library recipes/other.rb:1", "`win32/registry` cannot be required"),
    ];
    expect(&report["notes"], &notes);
    assert!(report["notes"].as_array().unwrap().iter().all(|note| note["platform"] == "windows"), "{report:#}");
    // Every run loads libraries, and this one fails on Linux.
    let always = [files[0], ("libraries/web.rb", "require 'win32ole'\n")];
    expect(&check(&always, &[], 1)["problems"], &[("library libraries/web.rb:1", "`win32ole` cannot be required")]);
}
