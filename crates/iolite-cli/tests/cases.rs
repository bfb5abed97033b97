//! The cases that others made, with their known answers.

mod common;

use common::{cases, iolite};

#[test]
fn ioco_pairs() {
    let Some(folder) = cases() else { return };
    let expected = std::fs::read_to_string(folder.join("ioco/expected.tsv")).unwrap();
    let mut count = 0;
    for line in expected.lines().skip(1) {
        let mut fields = line.split('\t');
        let (pair, holds) = (fields.next().unwrap(), fields.next().unwrap() == "true");
        let model = |side: &str| folder.join(format!("ioco/{pair}_ioco_{side}.dot"));
        let (i, s) = (
            model("P").display().to_string(),
            model("S").display().to_string(),
        );
        let answer = iolite(&["relate", "ioco", &i, &s, "--json"]).json();
        assert_eq!(answer["holds"], holds, "pair {pair}");
        if let Some(shortest) = fields.next().filter(|f| !f.is_empty()) {
            let found = &answer["counterexample"];
            let trace = found["trace"]
                .as_array()
                .unwrap()
                .iter()
                .map(|a| a.as_str().unwrap());
            let told = format!(
                "{} then {}",
                trace.collect::<Vec<_>>().join(" "),
                found["observed"].as_str().unwrap()
            );
            assert_eq!(told, shortest);
        }
        count += 1;
    }
    assert_eq!(count, 5);
}

/// How many inputs it takes to tell two brokers apart; `None` when they are equal.
fn inputs_apart(implementation: &str, specification: &str) -> Option<usize> {
    let folder = cases()?;
    let model = |name: &str| {
        folder
            .join(format!("mealy/mqtt/{name}__two_client_will_retain.dot"))
            .display()
            .to_string()
    };
    let args = [
        "relate",
        "ioco",
        &model(implementation),
        &model(specification),
    ];
    let answer = iolite(
        &[
            args.as_slice(),
            &["--complete-inputs", "self-loop", "--json"],
        ]
        .concat(),
    );
    let answer = answer.json();
    if answer["holds"] == true {
        return None;
    }
    let trace = answer["counterexample"]["trace"].as_array().unwrap();
    Some(
        trace
            .iter()
            .filter(|a| a.as_str().unwrap().starts_with('?'))
            .count(),
    )
}

#[test]
fn mqtt_brokers() {
    if cases().is_none() {
        return;
    }
    assert_eq!(inputs_apart("ActiveMQ", "emqtt"), None);
    assert_eq!(inputs_apart("emqtt", "ActiveMQ"), None);
    assert_eq!(inputs_apart("hbmqtt", "ActiveMQ"), Some(2));
    assert_eq!(inputs_apart("VerneMQ", "emqtt"), Some(3));
    assert_eq!(inputs_apart("emqtt", "mosquitto"), Some(5));
}

/// The table of all brokers says the same as the pairs.
#[test]
fn mqtt_matrix() {
    let Some(folder) = cases() else { return };
    let names = ["ActiveMQ", "VerneMQ", "emqtt", "hbmqtt", "mosquitto"];
    let models: Vec<String> = names
        .iter()
        .map(|n| {
            folder
                .join(format!("mealy/mqtt/{n}__two_client_will_retain.dot"))
                .display()
                .to_string()
        })
        .collect();
    let mut args = vec![
        "relate",
        "ioco",
        "--matrix",
        "--complete-inputs",
        "self-loop",
        "--json",
    ];
    args.extend(models.iter().map(String::as_str));
    let matrix = iolite(&args).expect(1).json();
    for (i, row) in matrix["rows"].as_array().unwrap().iter().enumerate() {
        for (s, holds) in row["holds"].as_array().unwrap().iter().enumerate() {
            let equal = i == s || [i, s] == [0, 2] || [i, s] == [2, 0];
            assert_eq!(holds, equal, "{} {}", names[i], names[s]);
        }
    }
}

/// `violated.txt` names the patterns that the SSH server violates; all others hold.
#[test]
fn ssh_observers() {
    let Some(folder) = cases() else { return };
    let folder = folder.join("ssh-observers");
    let violated = std::fs::read_to_string(folder.join("violated.txt")).unwrap();
    let violated: Vec<&str> = violated
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let mut observers: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "dot") && !p.ends_with("sutLanguage.dot"))
        .map(|p| p.display().to_string())
        .collect();
    observers.sort();
    let system = folder.join("sutLanguage.dot").display().to_string();
    let mut args = vec![
        "verify",
        &system,
        "--dot",
        "acceptor",
        "--input-prefix",
        "I_",
    ];
    args.extend(["--output-prefix", "O_", "--json", "--property"]);
    args.extend(observers.iter().map(String::as_str));
    let answer = iolite(&args).expect(1).json();
    let properties = answer["properties"].as_array().unwrap();
    assert_eq!(properties.len(), observers.len());
    let mut found = 0;
    for property in properties {
        let name = property["name"].as_str().unwrap();
        // The file of "Multiple UA_SUCCESS" is MultipleUA_SUCCESSLanguage.dot.
        let bad = violated
            .iter()
            .any(|v| format!("{}Language", v.replace(' ', "")) == name);
        let expected = if bad { "refuted" } else { "proved" };
        assert_eq!(property["result"], expected, "{name}");
        assert_eq!(property["trace"].is_array(), bad, "{name}");
        found += usize::from(bad);
    }
    assert_eq!(found, violated.len());
    assert_eq!(found, 4);
}
