//! What a command line names to be written is no file that it names to be read, and no file twice.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use iolite::Error;

/// Flags whose value is a file that is written.
const WRITTEN: [&str; 10] = [
    "--annotations",
    "--certificate",
    "--coverage",
    "--events",
    "--journal",
    "--journal-to",
    "--junit",
    "--output",
    "--picture",
    "--report",
];

/// Rejects a command line that would overwrite what it reads, or write two things to one file: a slip of the hand that costs a model or a
/// journal. It goes by the words of the command line, so that no command can forget it; `fmt` is there to overwrite.
pub(crate) fn reject(args: &[String]) -> Result<(), Error> {
    if args.get(1).is_some_and(|command| command == "fmt") {
        return Ok(());
    }
    let mut written: Vec<(&str, PathBuf)> = Vec::new();
    let mut read: Vec<&str> = Vec::new();
    let mut words = args.iter().skip(2).map(String::as_str);
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => match word.strip_prefix("-o") {
                Some("") => ("--output", None),
                Some(value) => ("--output", Some(value)),
                None => (word, None),
            },
        };
        if WRITTEN.contains(&flag) {
            let Some(value) = value.or_else(|| words.next()) else {
                break;
            };
            // `gitlab:FILE` is a form and a file.
            let file = match value.split_once(':') {
                Some((_, file)) if flag == "--annotations" => file,
                _ => value,
            };
            written.push((flag, PathBuf::from(file)));
        } else {
            read.push(value.unwrap_or(word));
        }
    }
    for (k, (flag, path)) in written.iter().enumerate() {
        let file = path.display();
        if let Some((other, _)) = written[..k].iter().find(|(_, other)| is_same(other, path)) {
            return Err(Error::input(format!(
                "{other} and {flag} name one file, {file}, and one would overwrite the other"
            )));
        }
        if read.iter().any(|word| names(word, path)) {
            return Err(Error::input(format!(
                "{file} is read by this command, and would be overwritten ({flag})"
            ))
            .hint("name another file"));
        }
    }
    Ok(())
}

/// Whether a word of the command line is this file: by itself, or as a reference to a declaration of it.
fn names(word: &str, file: &Path) -> bool {
    let word = word.strip_prefix("model:").unwrap_or(word);
    let before_name = word.split_once('#').map_or(word, |(path, _)| path);
    is_existing(Path::new(word), file) || is_existing(Path::new(before_name), file)
}

fn is_same(one: &Path, other: &Path) -> bool {
    if is_existing(one, other) {
        return true;
    }
    let is_new = |path: &Path| !path.exists() && path != Path::new("-");
    let absolute = |path: &Path| std::path::absolute(path).ok();
    is_new(one) && is_new(other) && absolute(one) == absolute(other)
}

/// Whether both are the same file, which is there. Devices take whatever comes.
fn is_existing(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => {
            one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(line: &str) -> Option<String> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        reject(&args).err().map(|error| error.to_string())
    }

    #[test]
    fn files_that_are_read_are_not_written() {
        let own = env!("CARGO_MANIFEST_DIR");
        let (model, other) = (format!("{own}/Cargo.toml"), format!("{own}/README.md"));
        for line in [
            format!("iolite test {model} --sut x --journal {model}"),
            format!("iolite test {model} --sut x --junit={model}"),
            format!("iolite test {other} --sut model:{model}#S --annotations gitlab:{model}"),
            format!("iolite relate ioco {other} {model}#S(max=3) --certificate {model}"),
            format!("iolite report {other} {model} -o {model}"),
            format!("iolite merge {model} -o{model}"),
            format!(
                "iolite passes {other} --property={model} --certificate {own}/src/../Cargo.toml"
            ),
        ] {
            let told = rejected(&line).unwrap_or_else(|| panic!("{line}"));
            assert!(told.contains("would be overwritten"), "{told}");
        }
        for line in [
            "iolite test a --journal new.jsonl --junit new.jsonl".to_owned(),
            format!("iolite test a --journal {model} --events {model}"),
        ] {
            let told = rejected(&line).unwrap_or_else(|| panic!("{line}"));
            assert!(told.contains("name one file"), "{told}");
        }
        for line in [
            format!("iolite fmt {model}"),
            format!("iolite test {model} --journal {other}"),
            format!("iolite test {model} --journal /dev/null --junit /dev/null --events -"),
            format!("iolite show {model} -o"),
            "iolite".to_owned(),
        ] {
            assert_eq!(rejected(&line), None, "{line}");
        }
    }
}
