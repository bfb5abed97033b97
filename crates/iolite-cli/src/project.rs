//! The project file `iolite.toml`: campaigns by name, each a set of flags of `iolite test`.
//!
//! A campaign is written out before the command line is parsed, so that whatever parses it, checks it or
//! records it sees plain flags, and a journal can be replayed without the file.

use std::path::Path;
use std::sync::OnceLock;

use iolite::Error;
use toml::{Table, Value};

/// The file, in the folder where the command runs.
const FILE: &str = "iolite.toml";

/// The command line of this process, with campaigns written out.
static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// The command line of this process, as it can be given again.
pub(crate) fn command() -> Vec<String> {
    let plain = || args().unwrap_or_default();
    COMMAND.get_or_init(plain).clone()
}

/// The arguments of this process. They are kept in journals and certificates, as texts.
fn args() -> Result<Vec<String>, Error> {
    let text = |arg: std::ffi::OsString| {
        arg.into_string().map_err(|arg| {
            Error::input(format!("the argument {} is not UTF-8 text", arg.display()))
                .hint("names of files are kept in journals and certificates, so they must be texts")
        })
    };
    std::env::args_os().map(text).collect()
}

/// The text of the project file.
fn read() -> Result<String, Error> {
    std::fs::read_to_string(FILE).map_err(|e| {
        Error::reading(Path::new(FILE), &e).hint(
            "campaigns are tables [campaign.NAME] of that file, in the folder where the command is run",
        )
    })
}

/// The command line of this process to be parsed.
pub(crate) fn expand() -> Result<Vec<String>, Error> {
    let args = expanded(args()?, read)?;
    Ok(COMMAND.get_or_init(|| args).clone())
}

/// A command line of `iolite test` that names a campaign, written out.
#[cfg(feature = "fleet")]
pub(crate) fn written_out(args: Vec<String>) -> Result<Vec<String>, Error> {
    expanded(args, read)
}

/// Takes `--campaign NAME` out of the arguments of `test`; its place and its value.
fn campaign(args: &[String]) -> Option<(usize, usize, String)> {
    if args.get(1).map(String::as_str) != Some("test") {
        return None;
    }
    args.iter().enumerate().skip(2).find_map(|(k, arg)| {
        let value = arg.strip_prefix("--campaign=");
        match value {
            Some(name) => Some((k, 1, name.to_owned())),
            None if arg == "--campaign" => Some((k, 2, args.get(k + 1)?.clone())),
            None => None,
        }
    })
}

fn expanded(
    mut args: Vec<String>,
    read: impl FnOnce() -> Result<String, Error>,
) -> Result<Vec<String>, Error> {
    let Some((at, length, name)) = campaign(&args) else {
        return Ok(args);
    };
    args.drain(at..at + length);
    let text = read()?;
    let file: Table = text.parse().map_err(|e: toml::de::Error| {
        Error::input(format!("{FILE}: {}", e.to_string().trim_end()))
    })?;
    let campaigns = file.get("campaign").and_then(Value::as_table);
    let known = || {
        let names = campaigns.map(|c| c.keys().cloned().collect::<Vec<_>>());
        names.unwrap_or_default().join(", ")
    };
    let Some(flags) = campaigns.and_then(|c| c.get(&name)?.as_table()) else {
        return Err(Error::input(format!("{FILE} has no campaign {name}"))
            .hint(format!("it has: {}", known())));
    };
    let mut written = Vec::new();
    for (key, value) in flags {
        let given = |arg: &String| {
            let rest = arg
                .strip_prefix("--")
                .and_then(|arg| arg.strip_prefix(key.as_str()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        // What the command line says itself counts.
        if args.iter().any(given) {
            continue;
        }
        write(key, value, &mut written)
            .map_err(|why| Error::input(format!("{FILE}, campaign {name}: {why}")))?;
    }
    args.splice(2..2, written);
    Ok(args)
}

/// A key and its value as flags; `model` is no flag.
fn write(key: &str, value: &Value, flags: &mut Vec<String>) -> Result<(), String> {
    let flag = format!("--{key}");
    let mut put = |text: String| {
        if key == "model" {
            flags.insert(0, text);
        } else {
            // In one word, so that no value is taken for a flag.
            flags.push(format!("{flag}={text}"));
        }
    };
    match value {
        Value::Boolean(true) => flags.push(flag),
        Value::Boolean(false) => {}
        Value::String(text) => put(text.clone()),
        Value::Integer(n) => put(n.to_string()),
        Value::Float(n) => put(n.to_string()),
        Value::Array(values) => {
            for value in values {
                match value {
                    Value::String(text) => put(text.clone()),
                    Value::Integer(n) => put(n.to_string()),
                    other => return Err(format!("{key}: {other} is not a text or a number")),
                }
            }
        }
        other => return Err(format!("{key} = {other} is not the value of a flag")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
[campaign.nightly]
model = \"login.iol#Login\"
sut = \"sut.toml\"
runs = 1000
observer = [\"a.iol#W\", \"b.iol#V\"]
stop-on-fail = true
keep-going = false
";

    fn args(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn written(line: &str) -> Result<String, String> {
        let expanded = expanded(args(line), || Ok(TEXT.to_owned()));
        expanded
            .map(|args| args.join(" "))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn a_campaign_is_its_flags() {
        assert_eq!(
            written("iolite test --campaign nightly --seed 3").unwrap(),
            "iolite test login.iol#Login --observer=a.iol#W --observer=b.iol#V --runs=1000 --stop-on-fail \
             --sut=sut.toml --seed 3"
        );
    }

    #[test]
    fn the_command_line_counts_more() {
        let line = written("iolite test --campaign=nightly --runs 5 --observer=c.iol").unwrap();
        assert_eq!(
            line,
            "iolite test login.iol#Login --stop-on-fail --sut=sut.toml --runs 5 --observer=c.iol"
        );
    }

    #[test]
    fn other_commands_are_left_alone() {
        for line in [
            "iolite test m.iol",
            "iolite check --campaign nightly",
            "iolite",
        ] {
            assert_eq!(written(line).unwrap(), line);
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let missing = written("iolite test --campaign weekly").unwrap_err();
        assert!(
            missing.contains("no campaign weekly") && missing.contains("nightly"),
            "{missing}"
        );
        let nested = expanded(args("iolite test --campaign x"), || {
            Ok("[campaign.x]\nruns = { a = 1 }".to_owned())
        });
        assert!(nested.unwrap_err().to_string().contains("runs"));
        let broken = expanded(args("iolite test --campaign x"), || {
            Ok("[campaign".to_owned())
        });
        assert!(broken.unwrap_err().to_string().contains("iolite.toml"));
    }
}
