//! Thousands of damaged models: whatever comes in, nothing panics, hangs or runs away.
//!
//! Seeds are the examples, the cases of others where they are there, and what the writers make of
//! the examples. Every mutant is decided by its number, so that a failure can be repeated.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use iolite_expr::{Limits, Solver};
use iolite_formats::aut::{self, AutOptions};
use iolite_formats::dot::{self, DotMode, DotOptions, MealyOptions};
use iolite_formats::hoa::{self, HoaReading};
use iolite_formats::javapt::{self, JavaPtProperty};
use iolite_formats::json;
use iolite_lang::syntax::ast::Item;
use iolite_lang::{
    Diagnostic, Rejected, Style, data_lints, diagnostic, fmt, has_data, lower_data, lower_lazily,
    lower_observer, lower_property, lower_purpose, lower_system, lower_test, lower_traces,
    parse_and_check, parse_and_check_bytes, render, systems, unfold_data,
};
use iolite_lts::{Labels, explore};
use iolite_sts::UnfoldBudget;

/// Mutants in all, unless the environment variable `IOLITE_MUTANTS` asks for another number.
const MUTANTS: u64 = 5000;
/// Time for one of them, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Iol,
    Aut,
    Dot,
    Json,
    Hoa,
    Xml,
}

struct Seed {
    name: String,
    format: Format,
    bytes: Vec<u8>,
}

/// `SplitMix64`, so that every mutant is the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `n`; 0 for 0.
    fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        usize::try_from(self.next() % n as u64).expect("below a length")
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn seeds() -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in [
        "../iolite-lang/tests/data",
        "../../examples",
        "../../../shared/cases",
    ] {
        files(&root.join(folder), &mut paths);
    }
    paths.sort();
    let mut seeds = Vec::new();
    for path in paths {
        let format = match path.extension().and_then(|e| e.to_str()) {
            Some("iol") => Format::Iol,
            Some("aut") => Format::Aut,
            Some("dot") => Format::Dot,
            _ => continue,
        };
        seeds.push(Seed {
            name: path.display().to_string(),
            format,
            bytes: fs::read(&path).expect("readable"),
        });
    }
    let written: Vec<Seed> = seeds
        .iter()
        .filter(|s| s.format == Format::Iol)
        .flat_map(written)
        .collect();
    seeds.extend(written);
    for format in [Format::Iol, Format::Json, Format::Hoa, Format::Xml] {
        let count = seeds.iter().filter(|s| s.format == format).count();
        assert!(count >= 5, "{count} seeds of {format:?}");
    }
    seeds
}

/// What the writers make of a good file.
fn written(seed: &Seed) -> Vec<Seed> {
    let text = String::from_utf8_lossy(&seed.bytes);
    let (file, found) = parse_and_check(&text);
    let mut result = Vec::new();
    if diagnostic::has_errors(&found) {
        return result;
    }
    let mut add = |name: &str, format: Format, text: String| {
        result.push(Seed {
            name: format!("{}#{name} as {format:?}", seed.name),
            format,
            bytes: text.into_bytes(),
        });
    };
    for name in systems(&file) {
        if let Ok(lts) = lower_system(&file, name, 200) {
            let (mut json_text, mut aut_text, mut dot_text) =
                (String::new(), String::new(), String::new());
            json::write(&lts, &mut json_text).expect("a string");
            add(name, Format::Json, json_text);
            aut::write(&lts, &mut aut_text).expect("a string");
            add(name, Format::Aut, aut_text);
            dot::write(&lts, &[], &mut dot_text).expect("a string");
            add(name, Format::Dot, dot_text);
        }
    }
    for item in &file.items {
        if let Item::Property(p) = item
            && let Ok(automaton) = lower_property(&file, &p.name.text, &[])
        {
            let text = hoa::write(&automaton, &p.name.text);
            add(&p.name.text, Format::Hoa, text);
            let property = JavaPtProperty {
                automaton,
                description: p.name.text.clone(),
            };
            if let Ok(text) = javapt::write(&property) {
                add(&p.name.text, Format::Xml, text);
            }
        }
    }
    result
}

/// Bytes that mean something to one of the formats.
const SIGNS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "\"",
    "\\",
    "/*",
    "*/",
    "//",
    "|||",
    "|[",
    "]|",
    ";",
    ",",
    ":",
    ":=",
    "->",
    "..",
    "=",
    "?",
    "!",
    "*",
    "@",
    "\n",
    "\0",
    "\u{feff}",
    "δ",
    "each k in ",
    "hide ",
    "system ",
    "process P(n: 0..3) = ",
    "state ",
    " - ",
    "--END--",
    "&amp;",
    "des (",
];

const NUMBERS: &[&str] = &[
    "-1",
    "0",
    "1024",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999",
];

/// A run of bytes of a kind, somewhere after `at`.
fn run(bytes: &[u8], at: usize, is: fn(&u8) -> bool) -> Option<(usize, usize)> {
    let start = at + bytes[at..].iter().position(is)?;
    let length = bytes[start..].iter().take_while(|b| is(b)).count();
    Some((start, start + length))
}

fn mutate(seeds: &[Seed], seed: &Seed, random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.bytes.clone();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let short = 1 + random.below(12);
        let long = 1 + random.below(400);
        let end = |length: usize| (at + length).min(bytes.len());
        match random.below(13) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next().to_le_bytes()[0],
            2 => {
                bytes.drain(at..end(short));
            }
            3 => {
                bytes.drain(at..end(long));
            }
            4 => {
                let piece = bytes[at..end(short)].repeat(1 + random.below(4));
                bytes.splice(at..at, piece);
            }
            5 => {
                let piece = bytes[at..end(long)].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            6 => bytes.truncate(at),
            7 | 8 => {
                let sign = random.pick(SIGNS);
                bytes.splice(at..at, sign.bytes());
            }
            9 => {
                if let Some((from, to)) = run(&bytes, at, u8::is_ascii_digit) {
                    let number = match random.below(4) {
                        0 => "9".repeat(1 + random.below(3000)),
                        _ => random.pick(NUMBERS).to_owned(),
                    };
                    bytes.splice(from..to, number.bytes());
                }
            }
            10 => {
                if let Some((from, to)) = run(&bytes, at, u8::is_ascii_alphabetic) {
                    let word = bytes[from..to].to_vec();
                    let words = word.repeat(1 + random.below(20_000) / word.len());
                    bytes.splice(from..to, words);
                }
            }
            11 => {
                let open =
                    random.pick(&["(", "[", "{", "-", "!", "not ", "a;", "[n > 0] -> ", "<"]);
                let pile = open.repeat(1 + random.below(500));
                bytes.splice(at..at, pile.bytes());
            }
            _ => {
                let other = &seeds[random.below(seeds.len())].bytes;
                let from = random.below(other.len());
                let to = (from + long).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
        }
    }
    bytes
}

fn within(bytes: &[u8], found: &[Diagnostic]) {
    for d in found {
        let span = d.span;
        assert!(
            span.start <= span.end && span.end <= bytes.len() + 1,
            "{d:?}"
        );
    }
    render("f", bytes, found, Style::default());
}

fn feed(format: Format, bytes: &[u8]) {
    let lossy = || String::from_utf8_lossy(bytes);
    match format {
        Format::Iol => iol(bytes),
        Format::Aut => match aut::read(bytes, &AutOptions::default()) {
            Ok(loaded) => within(bytes, &loaded.lints),
            Err(Rejected(found)) => within(bytes, &found),
        },
        Format::Dot => {
            for mode in [
                DotMode::Iolts,
                DotMode::Mealy(MealyOptions::default()),
                DotMode::Moore(MealyOptions::default()),
            ] {
                let options = DotOptions {
                    mode,
                    ..DotOptions::default()
                };
                match dot::read_acceptor(bytes, &options) {
                    Ok(loaded) => within(bytes, &loaded.lints),
                    Err(Rejected(found)) => within(bytes, &found),
                }
            }
        }
        Format::Json => match json::read(bytes) {
            Ok(loaded) => within(bytes, &loaded.lints),
            Err(Rejected(found)) => within(bytes, &found),
        },
        Format::Hoa => {
            let _ = hoa::read(&lossy(), HoaReading::AsMarked);
            let _ = hoa::read_omega(&lossy(), HoaReading::Valuations);
        }
        Format::Xml => {
            let _ = javapt::read(&lossy());
        }
    }
}

/// Everything that a command does with a model before it uses it.
fn iol(bytes: &[u8]) {
    let (file, found) = parse_and_check_bytes(bytes);
    within(bytes, &found);
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(laid_out) = fmt::format(text)
    {
        let again = fmt::format(&laid_out);
        assert_eq!(again.as_ref(), Ok(&laid_out), "the layout is no layout");
    }
    let sound = !diagnostic::has_errors(&found);
    let budget = UnfoldBudget {
        states: 40,
        values: 8,
    };
    let mut solver = Solver::embedded();
    solver.set_limits(Limits::new(Duration::from_millis(20), 64));
    for name in systems(&file).into_iter().take(8) {
        if let Err(found) = lower_system(&file, name, 100) {
            within(bytes, &found);
        }
        match lower_lazily(&file, name, 100) {
            Ok(view) => drop(explore(&view, 100)),
            Err(found) => within(bytes, &found),
        }
        if !has_data(&file, name) {
            continue;
        }
        let _ = lower_data(&file, name);
        if sound {
            let _ = data_lints(&file, name, &mut solver);
            let _ = unfold_data(&file, name, &mut solver, budget);
        }
    }
    let labels = Labels::new();
    for item in file.items.iter().take(16) {
        let name = &item.name().text;
        match item {
            Item::Machine(_) | Item::Traces(_) => {
                let _ = lower_observer(&file, name, &labels);
                let _ = lower_purpose(&file, name, &labels);
                let _ = lower_test(&file, name);
                let _ = lower_traces(&file, name, &labels);
            }
            Item::Property(_) => drop(lower_property(&file, name, &[])),
            _ => {}
        }
    }
}

/// The mutant of a number.
fn mutant(seeds: &[Seed], number: u64) -> (&Seed, Vec<u8>) {
    let mut random = Random(number);
    // Models of our own are read by far more code than the others.
    let own: Vec<&Seed> = seeds.iter().filter(|s| s.format == Format::Iol).collect();
    let seed = if random.below(2) == 0 {
        random.pick(&own)
    } else {
        &seeds[random.below(seeds.len())]
    };
    let bytes = mutate(seeds, seed, &mut random);
    (seed, bytes)
}

/// Feeds what `next` gives, one after the other, on a thread of its own; a panic and a hang are told
/// with what caused them. The slowest and the number of all.
fn watch(
    mut next: impl FnMut() -> Option<(String, Format, Vec<u8>)> + Send + 'static,
) -> (Duration, String, u64) {
    let (done, report) = channel();
    std::thread::spawn(move || {
        while let Some((what, format, bytes)) = next() {
            if done.send((what.clone(), Vec::new(), false, None)).is_err() {
                return;
            }
            let start = Instant::now();
            let panicked = catch_unwind(AssertUnwindSafe(|| feed(format, &bytes))).is_err();
            let time = Some(start.elapsed());
            if done.send((what, bytes, panicked, time)).is_err() {
                return;
            }
        }
    });
    let mut current = "the seeds".to_owned();
    let mut slowest = (Duration::ZERO, String::new(), 0);
    loop {
        match report.recv_timeout(PATIENCE) {
            Ok((what, bytes, panicked, time)) => {
                let text = String::from_utf8_lossy(&bytes);
                let short: String = text.chars().take(20_000).collect();
                assert!(!panicked, "{what}:\n{short}");
                if let Some(time) = time {
                    slowest.2 += 1;
                    if time > slowest.0 {
                        slowest = (time, what.clone(), slowest.2);
                    }
                }
                current = what;
            }
            Err(RecvTimeoutError::Disconnected) => return slowest,
            Err(RecvTimeoutError::Timeout) => panic!("no end of {current}"),
        }
    }
}

#[test]
fn mutants_are_read_or_refused() {
    let asked = std::env::var("IOLITE_MUTANTS").ok();
    let count = asked.map_or(MUTANTS, |n| n.parse().expect("a number"));
    let mut seeds_and_number = None;
    let (time, what, fed) = watch(move || {
        let (seeds, number) = seeds_and_number.get_or_insert_with(|| (seeds(), 0));
        if *number == count {
            return None;
        }
        let (seed, bytes) = mutant(seeds, *number);
        let what = format!("mutant {number} of {}", seed.name);
        *number += 1;
        Some((what, seed.format, bytes))
    });
    println!("slowest: {time:?} for {what}");
    assert_eq!(fed, count);
}

/// Small texts with a large meaning, and large ones with none.
#[test]
fn explosions_are_refused() {
    let digits = "9".repeat(100_000);
    let long = "x".repeat(200_000);
    let chain = |link: &str| -> String {
        let of = |k: u32| {
            link.replace("@n", &format!("P{}", k + 1))
                .replace('@', &format!("P{k}"))
        };
        (0..2000)
            .map(of)
            .chain(["process P2000 = a; stop\n".to_owned()])
            .collect()
    };
    let texts = [
        chain("process @ = @n [] b; stop\n"),
        chain("process @ = b; stop [] hide a in @n\n"),
        chain("process @ = [true] -> @n\n"),
        chain("process @ = a; stop ||| (@n [] b; stop)\n"),
        "system S = each k in 0..1000 ||| each j in 0..1000 ||| a(j, k); stop".to_owned(),
        "system S = each k in 0..9 || each j in k..9 |[a]| (a(x: 0..9); a(x); stop)".to_owned(),
        "system S = a(x: 0..99999, y: 0..99999, z: 0..99999); stop".to_owned(),
        "system S = a(x: 0..9); b(y: 0..9); c(z: 0..9); d(u: 0..9); e(v: 0..9); f(x, y, z, u, v); stop".to_owned(),
        "process P(s: string) = a; P(s = s ++ s)\nsystem S = P(s = \"x\")".to_owned(),
        "process P(a: int[]) = b(a); P(a = a ++ a)\nsystem S = P(a = [1])".to_owned(),
        "process P(n: int) = a; P(n = n * n)\nsystem S = P(n = 3)".to_owned(),
        "process P(n: int) = a(n); P(n = n + 1)\nsystem S = P(n = 0)\nobserver O for S { initial state s { !x -> v } violate state v }".to_owned(),
        "process P(n: int) = a; (P(n = n + 1) ||| P(n = n + 2))\nsystem S = P(n = 0)".to_owned(),
        format!("system S = each k in 0..{digits} ||| a(k); stop"),
        format!("system S = each k in -{digits}..-{digits} ||| a(k * {digits}); stop"),
        format!("process P(n: 0..{digits}) = a(x: 0..{digits}); P(n = x)\nsystem S = P(n = 1)"),
        format!("system S = rename a -> a({digits}) in hide b(\"{long}\") in (a; b(\"{long}\"); stop)"),
        format!("system S {{ var s: string = \"\" input a(t: string) initial state q {{ ?a(t) [s ++ t == \"{long}\" ++ s] / s := t -> q ?a(t) [t != \"{long}\"] -> q }} }}"),
        format!("system S {{ var n: int = {digits} output a(m: int) initial state q {{ !a(m) [m * n == {digits} * n % 7] / n := n * n -> q }} }}"),
        "process P = a( ".repeat(50_000),
        "process P = [x] -> ".repeat(50_000),
        format!("process P = {}stop", "[true] -> ".repeat(100_000)),
        format!("process P = a({}", "x: 0..3, ".repeat(100_000)),
        format!("system S = {}(a; stop)", "each k in 0..1 ||| ".repeat(90)),
        format!("system S = {}(a; stop)", "rename a -> a(1) in ".repeat(90)),
        format!("process P over {{ {} }} = stop", "a(x: 0..999), ".repeat(2000)),
    ];
    let mut texts = texts.into_iter();
    let (time, what, fed) = watch(move || {
        let text = texts.next()?;
        let what = text.chars().take(100).collect();
        Some((what, Format::Iol, text.into_bytes()))
    });
    println!("slowest: {time:?} for {what}");
    assert_eq!(fed, 26);
}
