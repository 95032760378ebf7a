//! Environment files become layers, and layers become attributes.

#![cfg(test)]

use node::layers::{Layer, LayerAttributes, LayerFormat};
use resolve::layers::{
    LayerSource, MAX_FILE, attribute_path, cookbook_constraints, layer_of_ruby, merge_layers, read_layer,
};
use serde_json::{Value, json};

fn source(file: &str) -> LayerSource<'_> {
    let stem = file.split_once('.').unwrap().0;
    LayerSource { file, digest: "00", stem }
}

fn read(file: &str, text: &str) -> Result<Layer, String> {
    let format = LayerFormat::of_ending(file.rsplit_once('.').unwrap().1).unwrap();
    read_layer(&source(file), format, text).map_err(|error| error.to_string())
}

fn yaml(file: &str, text: &str) -> Layer {
    read(file, text).unwrap()
}

/// The same environment in each language.
const JSON: &str = r#"{
  // as Chef's tools write it
  "name": "stage", "description": "", "json_class": "Chef::Environment", "chef_type": "environment",
  "default_attributes": {
    "ntp": { "servers": ["a", "b"],
             "port": 123 }
  },
  "override_attributes": { "a": { "b.c": { "d": 1.5 } } },
  "cookbook_versions": { "ntp": "~> 2.0" },
  "merge_strategies": { "ntp.servers": "merge", "default": "overwrite" },
  "policies": ["web"]
}"#;

const TOML: &str = r#"name = "stage"
policies = ["web"]
[default_attributes.ntp]
servers = ["a", "b"]
port = 123
[override_attributes.a."b.c"]
d = 1.5
[cookbook_versions]
ntp = "~> 2.0"
[merge_strategies]
"ntp.servers" = "merge"
default = "overwrite"
"#;

const YAML: &str = r#"# a comment
name: stage
default_attributes:
  ntp:
    servers: [a, "b"]
    port: 0x7b
override_attributes:
  a: {"b.c": {d: 1.5}}
cookbook_versions:
  ntp: ~> 2.0
merge_strategies: {ntp.servers: merge, default: overwrite}
policies:
- web
"#;

fn lines(layer: &Layer) -> Vec<(String, Option<u32>)> {
    let mut found = vec![];
    for tree in [&layer.default_attributes, &layer.override_attributes] {
        tree.walk(&mut |path, _, line| {
            found.push((path.join("/"), line));
            true
        });
    }
    found
}

#[test]
fn an_environment_is_the_same_in_all_languages_and_keeps_its_lines() {
    #[track_caller]
    fn check(file: &str, text: &str, expected: [u32; 6], version: u32) {
        let layer = read(file, text).unwrap();
        assert_eq!(layer.name, "stage");
        assert_eq!(json!(layer.default_attributes.values()), json!({"ntp": {"servers": ["a", "b"], "port": 123}}));
        assert_eq!(json!(layer.override_attributes.values()), json!({"a": {"b.c": {"d": 1.5}}}));
        assert_eq!(json!(layer.merge_strategies), json!({"ntp.servers": "merge", "default": "overwrite"}));
        assert_eq!(layer.policies.as_deref(), Some(&["web".to_owned()][..]));
        let paths = ["ntp", "ntp/servers", "ntp/port", "a", "a/b.c", "a/b.c/d"];
        let expected: Vec<_> =
            paths.iter().zip(expected).map(|(path, line)| ((*path).to_owned(), Some(line))).collect();
        assert_eq!(lines(&layer), expected);
        let [constraint] = layer.cookbook_versions.as_slice() else { panic!("{:?}", layer.cookbook_versions) };
        assert_eq!((constraint.cookbook.as_str(), constraint.constraint.as_str()), ("ntp", "~> 2.0"));
        assert_eq!(constraint.line, Some(version));
    }
    check("x.json", JSON, [5, 5, 6, 8, 8, 8], 9);
    check("x.toml", TOML, [3, 4, 5, 6, 6, 7], 9);
    check("x.yaml", YAML, [4, 5, 6, 8, 8, 8], 10);
}

#[test]
fn an_environment_of_ruby_is_what_its_evaluation_came_to() {
    let document = json!({"name": "stage", "description": "", "cookbook_versions": {}, "json_class": "Chef::Environment",
        "chef_type": "environment", "default_attributes": {"a": 1}, "override_attributes": {}});
    let layer = layer_of_ruby(&source("x.rb"), document).unwrap();
    assert_eq!((layer.name.as_str(), layer.format), ("stage", LayerFormat::Ruby));
    assert_eq!(lines(&layer), [("a".to_owned(), None)]);

    // The answer has lines for what the file writes as a literal. What it says of them is a stranger's word.
    let document = json!({"name": "stage", "default_attributes": {"a": {"b": 1, "c": 2}, "d": 3},
        "wrun_lines": {"default_attributes": {"a": [2, {"b": [3, {}], "gone": [9, 7]}], "d": ["x", null]}, "override_attributes": 5}});
    let layer = layer_of_ruby(&source("x.rb"), document).unwrap();
    let expected = [("a", Some(2)), ("a/b", Some(3)), ("a/c", None), ("d", None)];
    assert_eq!(lines(&layer), expected.map(|(path, line)| (path.to_owned(), line)));
    let odd = json!({"name": "stage", "default_attributes": {"a": 1}, "wrun_lines": [1]});
    assert_eq!(lines(&layer_of_ruby(&source("x.rb"), odd).unwrap()), [("a".to_owned(), None)]);
}

#[test]
fn a_file_without_a_name_is_called_as_the_file() {
    assert_eq!(read("site-a.yaml", "default_attributes: {}").unwrap().name, "site-a");
    assert_eq!(read("a b.yaml", "default_attributes: {}").unwrap_err().split(": ").next(), Some("a b.yaml"));
}

#[test]
fn yaml_has_the_types_of_its_core_schema() {
    let text = "default_attributes:\n  a: [1, -2, +3, 0o17, 1e3, .5, ~, null, '', true, No, 1.2.3, 1_000, '7', !!str 7, 2026-01-01]\n  b: &b {c: 1}\n  d: *b\n  e: |\n    x\n    y\n";
    let layer = read("x.yaml", text).unwrap();
    let values = json!({
        "a": [1, -2, 3, 15, 1000.0, 0.5, null, null, "", true, "No", "1.2.3", "1_000", "7", "7", "2026-01-01"],
        "b": {"c": 1}, "d": {"c": 1}, "e": "x\ny\n",
    });
    assert_eq!(json!(layer.default_attributes.values()), values);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_line() {
    #[track_caller]
    fn check(file: &str, text: &str, expect: &str) {
        let error = read(file, text).expect_err("it was read");
        assert!(error.contains(expect), "{error}\nexpected: {expect}");
    }
    check("x.json", "", "x.json:1: the document ends too early");
    check("x.json", "[1]", "x.json:1: the file must be an object with keys, not a list");
    check("x.json", "{\n\"name\": \"a\",\n}", "x.json:3: a key in quotation marks must follow");
    check("x.json", "{\"name\": 1}", "x.json:1: name must be text, not a number");
    check("x.json", "{\n\"defaults\": {}}", "x.json:2: an environment has no key \"defaults\"; it has: name,");
    check("x.json", "{\"default_attributes\": {\"a\": 1,\n\"a\": 2}}", "x.json:2: the key \"a\" is there twice");
    let long = "123456789012345678901234567890";
    check("x.json", &format!("{{\n\"a\": {long}}}"), &format!("x.json:2: {long} is not a number that fits"));
    check("x.json", "{\"default_attributes\": {\"a\": nul}}", "x.json:1: this is not JSON");
    check("x.json", "{\"name\": \"a", "a text does not end");
    check("x.json", "{\"name\": \"\\x\"}", "x.json:1: this text is not JSON: invalid escape");
    check("x.json", "{} {}", "x.json:1: nothing may follow");
    check("x.json", "{ /* ", "a comment does not end");
    check("x.toml", "name = \"a\"\nx = = 1", "x.toml:2: ");
    check("x.toml", "default_attributes = 1", "x.toml:1: default_attributes must be an object, not a number");
    check("x.toml", "[default_attributes]\na = nan", "x.toml:2: nan is not a number that fits");
    check("x.yaml", "", "the file has no document");
    check("x.yaml", "a: 1\n---\nb: 2", "x.yaml:");
    check("x.yaml", "default_attributes:\n  ? [a]\n  : 1", "x.yaml:2: a key must be text");
    check("x.yaml", "default_attributes:\n  <<: {a: 1}", "x.yaml:2: merge keys");
    check("x.yaml", "default_attributes:\n  a: !ruby/object:X {}", "x.yaml:2: the tag ");
    check("x.yaml", "default_attributes:\n  a: &a [*a]", "x.yaml:2: an alias must follow");
    check("x.yaml", "name: [", "x.yaml:");
    check("x.yaml", "cookbook_versions:\n  ntp: newest", "x.yaml:2: the constraint on ntp is \"newest\"");
    check(
        "x.yaml",
        "merge_strategies:\n  a: join",
        "x.yaml:2: the merge strategy of a is \"join\"; it must be one of overwrite, merge, deep_merge",
    );
    check("x.yaml", "merge_strategies:\n  a: merge\n  a.b: merge", "x.yaml:3: merge_strategies names a and a.b");
    check("x.yaml", "policies: web", "x.yaml:1: policies must be a list of names, not text");
    check("x.yaml", "name: ../x", "\"../x\" cannot be the name of a layer");
}

#[test]
fn files_are_bounded() {
    let deep = |open: &str, close: &str| {
        format!("{{\"default_attributes\": {{\"a\": {}{}}}}}", open.repeat(100), close.repeat(100))
    };
    assert!(read("x.json", &deep("[", "]")).unwrap_err().contains("nested deeper than 64"));
    assert!(read("x.json", &deep("{\"a\":", "1").replace("11", "1")).is_err());
    assert!(read("x.yaml", &deep("[", "]")).is_err());
    assert!(read("x.toml", &format!("default_attributes = {{a = {}{}}}", "[".repeat(500), "]".repeat(500))).is_err());
    let many = format!("{{\"default_attributes\": {{\"a\": [{}0]}}}}", "0,".repeat(200_000));
    assert!(read("x.json", &many).unwrap_err().contains("more than 200000 values"));
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned()
        + &(b'b'..=b'k')
            .map(|one| {
                let (one, before) = (one as char, (one - 1) as char);
                format!("{one}: &{one} [{}]\n", vec![format!("*{before}"); 10].join(","))
            })
            .collect::<String>();
    let bomb = format!("default_attributes:\n{}", bomb.lines().map(|line| format!("  {line}\n")).collect::<String>());
    assert!(read("x.yaml", &bomb).unwrap_err().contains("more than 200000 values"));
    let bomb = format!("a: &x {:?}\nb: [{}]", "x".repeat(1 << 20), "*x, ".repeat(20));
    let said = read("x.yaml", &format!("default_attributes: {{}}\n{bomb}")).unwrap_err();
    assert!(said.contains("stands for more than 16777216 bytes of text"), "{said}");
    assert!(read("x.yaml", &" ".repeat(MAX_FILE + 1)).unwrap_err().contains("more than 4194304 bytes"));
}

#[test]
fn names_of_attributes_have_dots() {
    assert_eq!(attribute_path(r"a.b\.c.d"), ["a", "b.c", "d"]);
}

/// Layers named a, b, c, .. of these default attributes and strategies.
fn layers(texts: &[&str]) -> Vec<Layer> {
    texts.iter().zip('a'..).map(|(text, name)| yaml(&format!("{name}.yaml"), text)).collect()
}

fn merged(texts: &[&str]) -> Result<LayerAttributes, String> {
    let layers = layers(texts);
    let all: Vec<&Layer> = layers.iter().collect();
    merge_layers(&all, None).map(|levels| levels.default).map_err(|error| error.to_string())
}

#[track_caller]
fn check(texts: &[&str], expect: Result<Value, &str>) {
    match (merged(texts), expect) {
        (Ok(found), Ok(expect)) => assert_eq!(Value::Object(found.values), expect),
        (Err(found), Err(expect)) => assert!(found.contains(expect), "{found}"),
        (found, expect) => panic!("found {found:?}, expected {expect:?}"),
    }
}

#[test]
fn without_strategies_objects_merge_and_the_last_layer_wins() {
    check(
        &["default_attributes: {a: {b: 1, l: [1]}, t: x}", "default_attributes: {a: {c: 2, l: [2]}, t: {u: 1}}"],
        Ok(json!({"a": {"b": 1, "l": [2], "c": 2}, "t": {"u": 1}})),
    );
    check(&["default_attributes: {a: {b: 1}}", "default_attributes: {a: }"], Ok(json!({"a": null})));
    check(&["default_attributes: {a: 1}", "default_attributes: {a: {}}"], Ok(json!({"a": {}})));
}

#[test]
fn strategies_are_those_of_heat_for_each_attribute() {
    let base = "{default_attributes: {a: {l: [1], t: x, o: {p: {q: 1}, s: 1}}}, merge_strategies: {a.l: merge, a.t: merge, a.o: deep_merge}}";
    // Sticky: the later layer names none.
    check(
        &[base, "default_attributes: {a: {l: [1], t: y, o: {p: {r: 2}, n: }}}"],
        Ok(json!({"a": {"l": [1, 1], "t": "xy", "o": {"p": {"q": 1, "r": 2}, "s": 1}}})),
    );
    check(
        &[base, "{default_attributes: {a: {l: [2]}}, merge_strategies: {a.l: deep_merge}}"],
        Err("layer b (b.yaml) sets a.l with the merge strategy deep_merge, but layer a (a.yaml) sets it with merge"),
    );
    // As in Heat, a layer without a strategy overwrites, and that is sticky, too.
    check(
        &["default_attributes: {l: [1]}", "{default_attributes: {l: [2]}, merge_strategies: {l: merge}}"],
        Err("sets l with the merge strategy merge, but layer a (a.yaml) sets it with overwrite"),
    );
    check(
        &["{default_attributes: {n: 1}, merge_strategies: {n: merge}}", "default_attributes:\n  n: 2"],
        Err("layer b (b.yaml:2): n cannot be merged: only texts, lists and objects can be merged"),
    );
    check(
        &["{default_attributes: {l: [1]}, merge_strategies: {l: merge}}", "default_attributes: {l: x}"],
        Err("layer b (b.yaml:1): l cannot be merged: it is text, and the earlier value is a list"),
    );
    // A named object is replaced as a whole.
    check(
        &["{default_attributes: {o: {a: 1}}, merge_strategies: {o: overwrite}}", "default_attributes: {o: {b: 2}}"],
        Ok(json!({"o": {"b": 2}})),
    );
    check(
        &[
            "{default_attributes: {o: {a: {x: 1}}}, merge_strategies: {o: merge}}",
            "default_attributes: {o: {a: {y: 1}, b: 2}}",
        ],
        Ok(json!({"o": {"a": {"y": 1}, "b": 2}})),
    );
    // The default strategy is for texts and lists.
    check(
        &[
            "{default_attributes: {o: {l: [1], n: 1, t: x}}, merge_strategies: {default: merge}}",
            "{default_attributes: {o: {l: [2], n: 2, t: y}}, merge_strategies: {default: merge}}",
        ],
        Ok(json!({"o": {"l": [1, 2], "n": 2, "t": "xy"}})),
    );
}

#[test]
fn default_and_override_attributes_are_separate() {
    let layers = layers(&["{default_attributes: {a: 1}, override_attributes: {a: 2}}", "default_attributes: {a: 3}"]);
    let levels = merge_layers(&layers.iter().collect::<Vec<_>>(), None).unwrap();
    assert_eq!((json!(levels.default.values), json!(levels.r#override.values)), (json!({"a": 3}), json!({"a": 2})));
}

#[test]
fn each_value_has_its_layer_file_and_line() {
    let texts = [
        "default_attributes:\n  o: {x: {y: 1}}\n  a:\n    b: 1\n",
        "{default_attributes:\n {o: {x: {z: 1}},\n a: {b: 2}}, merge_strategies: {o: deep_merge}}",
    ];
    assert!(merged(&texts).unwrap_err().contains("sets o with the merge strategy deep_merge"));
    let found = merged(&[texts[0], "default_attributes:\n  a: {b: 2}\n"]).unwrap();
    let writes: Vec<_> =
        found.writes.iter().map(|write| format!("{} {}", write.path.join("."), write.origin)).collect();
    let expect = ["o.x.y a (a.yaml:2)", "a.b a (a.yaml:4)", "a.b b (b.yaml:2)"];
    assert_eq!(writes, expect);
    // Lines stay right after an object that is taken as a whole.
    let found = merged(&["{default_attributes:\n {o: {x: 1,\n y: 2},\n a: 1}, merge_strategies: {o: merge}}"]).unwrap();
    let writes: Vec<_> =
        found.writes.iter().map(|write| format!("{} {}", write.path.join("."), write.origin)).collect();
    assert_eq!(writes, ["o a (a.yaml:2)", "a a (a.yaml:4)"]);
}

#[test]
fn the_last_layer_constrains_a_cookbook() {
    let layers = layers(&["cookbook_versions: {ntp: ~> 1.0, web: = 1.0.0}", "cookbook_versions:\n  ntp: ~> 2.0"]);
    let found = cookbook_constraints(&layers.iter().collect::<Vec<_>>());
    let shown: Vec<_> =
        found.iter().map(|(name, one)| format!("{name} {} {} {}", one.constraint, one.layer, one.place)).collect();
    assert_eq!(shown, ["ntp ~> 2.0 b b.yaml:2", "web = 1.0.0 a a.yaml:1"]);
}

/// 200 layers with 100 attributes each, all of which set the same attributes of every kind.
#[test]
fn each_of_twenty_thousand_leaves_is_looked_at_once() {
    let joined = |one: &dyn Fn(usize) -> String| (0..25).map(one).collect::<Vec<_>>().join(", ");
    let layer = |layer: usize| {
        let shared = joined(&|key| format!("list{key}: [\"{layer}\"], text{key}: \"{layer},\", number{key}: {layer}"));
        let own = joined(&|key| format!("key{key}: true"));
        let attributes = format!("{{shared: {{{shared}}}, own{layer}: {{{own}}}}}");
        let text = format!("{{default_attributes: {attributes}, merge_strategies: {{default: merge}}}}");
        yaml(&format!("layer{layer}.yaml"), &text)
    };
    let layers: Vec<Layer> = (0..200).map(layer).collect();
    let merged = merge_layers(&layers.iter().collect::<Vec<_>>(), None).unwrap();
    let LayerAttributes { values, writes } = &merged.default;
    assert_eq!(writes.len(), 20_000, "one look at each leaf, none at the objects above them");
    assert_eq!(
        writes.iter().filter(|write| write.joins).count(),
        199 * 50,
        "lists and texts of all layers but the first"
    );
    let shared = &values["shared"];
    assert_eq!(shared["list7"].as_array().unwrap().len(), 200);
    assert_eq!([&shared["list7"][199], &shared["number7"]], [&json!("199"), &json!(199)]);
    assert_eq!(shared["text7"].as_str().unwrap().split_terminator(',').count(), 200);
    assert_eq!(values.len(), 201);
}
