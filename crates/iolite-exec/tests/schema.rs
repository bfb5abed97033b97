//! `editors/sut.schema.json` says what the reader of descriptions says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use iolite_exec::SutConfig;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Value {
    let text = fs::read_to_string(root().join("editors/sut.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What a schema refuses; only the words that ours uses are known.
fn mistakes(whole: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = whole.pointer(name.trim_start_matches('#')).unwrap();
        return mistakes(whole, target, value, at, found);
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let fits = |choice: &Value| {
            let mut inner = Vec::new();
            mistakes(whole, choice, value, at, &mut inner);
            inner.is_empty()
        };
        if !choices.iter().any(fits) {
            found.push(format!("{at}: none of the forms"));
        }
        return;
    }
    let fits = match schema["type"].as_str().unwrap() {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has the type {other}"),
    };
    if !fits {
        found.push(format!("{at}: {value} is no {}", schema["type"]));
        return;
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && !values.contains(value)
    {
        found.push(format!("{at}: {value} is none of {values:?}"));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        mistakes(whole, &schema["items"], item, &format!("{at}[{i}]"), found);
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        match (
            schema.pointer(&format!("/properties/{key}")),
            &schema["additionalProperties"],
        ) {
            (Some(known), _) => mistakes(whole, known, inner, &at, found),
            (None, others) if others.is_object() => mistakes(whole, others, inner, &at, found),
            (None, _) => found.push(format!("{at}: unknown")),
        }
    }
}

/// The keys or values that the reader expects, by its message about one that it does not know.
fn expected(text: &str) -> BTreeSet<String> {
    let message = SutConfig::parse(text).unwrap_err().to_string();
    let (_, list) = message
        .split_once("expected ")
        .unwrap_or_else(|| panic!("{message}"));
    let list = list.lines().next().unwrap();
    list.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_schema_has_the_keys_of_the_reader() {
    let whole = schema();
    for (table, text) in [
        ("", "nonsense = 1"),
        ("/$defs/channel", "[[channel]]\nnonsense = 1"),
        ("/$defs/action", "[actions.a]\nnonsense = 1"),
        ("/$defs/udp", "udp = { nonsense = 1 }"),
        ("/$defs/tls/anyOf/1", "tls = { nonsense = 1 }"),
        ("/properties/quiescence", "[quiescence]\nnonsense = 1"),
        ("/properties/limits", "[limits]\nnonsense = 1"),
    ] {
        let known = whole.pointer(&format!("{table}/properties")).unwrap();
        let known: BTreeSet<String> = known.as_object().unwrap().keys().cloned().collect();
        assert_eq!(known, expected(text), "{table}");
    }
}

/// Each value of an enumeration is one for the reader, and another word is not.
#[test]
fn the_schema_has_the_values_of_the_reader() {
    let whole = schema();
    let udp = "own = \"a:1\", peer = \"b:1\"";
    for (place, before, after) in [
        (
            "/properties/reset",
            "command = \"x\"\nreset = ",
            "\nreset-send = \"r\"",
        ),
        ("/properties/on-exit", "command = \"x\"\non-exit = ", ""),
        (
            "/properties/undecodable",
            "command = \"x\"\nundecodable = ",
            "",
        ),
        ("/$defs/context", "command = \"x\"\ncontext = ", ""),
        (
            "/$defs/udp/properties/from",
            &*format!("udp = {{ {udp}, from = "),
            " }",
        ),
    ] {
        let values = whole.pointer(&format!("{place}/enum")).unwrap();
        let list = expected(&format!("{before}\"nonsense\"{after}"));
        let values = values.as_array().unwrap().iter();
        let values: BTreeSet<String> = values.map(|v| v.as_str().unwrap().to_owned()).collect();
        assert_eq!(values, list, "{place}");
    }
}

/// The descriptions of the project, wherever they are.
fn descriptions(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            descriptions(&path, found);
        } else if name.starts_with("sut") && path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_description_fits_the_schema() {
    let whole = schema();
    let mut files = Vec::new();
    descriptions(&root().join("examples"), &mut files);
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        SutConfig::parse(&text).unwrap();
        let value: Value = toml::from_str(&text).unwrap();
        let mut found = Vec::new();
        mistakes(&whole, &whole, &value, "", &mut found);
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let whole = schema();
    for text in [
        "cmd = \"x\"",
        "quiescence = 100",
        "command = \"x\"\n[quiescence]\ntimeout-ms = \"100\"",
        "command = \"x\"\nreset = \"maybe\"",
        "command = 3",
        "tls = { certificate = \"x\" }",
        "[actions.a]\nsends = \"x\"",
        "[[channel]]\nport = 3",
    ] {
        assert!(SutConfig::parse(text).is_err(), "{text}");
        let value: Value = toml::from_str(text).unwrap();
        let mut found = Vec::new();
        mistakes(&whole, &whole, &value, "", &mut found);
        assert!(!found.is_empty(), "{text}");
    }
}
