//! What the benchmarks share: generated models, and processes measured for CPU time and memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// CPU time and peak memory of one process.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// User and system time in seconds.
    pub seconds: f64,
    /// Peak resident set in megabytes.
    pub megabytes: f64,
    /// The exit code.
    pub code: i32,
}

/// Runs a command and measures it. The command is started by a fresh copy of this program, whose
/// only child it is, so that the peak is that command's own.
pub fn measure(program: &Path, args: &[&str]) -> Cost {
    let this = std::env::current_exe().expect("this program has a path");
    let output = Command::new(this)
        .arg("--measure")
        .arg(program)
        .args(args)
        .output()
        .expect("a copy of this program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    match numbers.as_slice() {
        [seconds, megabytes, code] => Cost {
            seconds: *seconds,
            megabytes: *megabytes,
            code: *code as i32,
        },
        _ => panic!(
            "{}: no measurement: {text} (is it built? `cargo build --release --bins` in benches)",
            program.display()
        ),
    }
}

/// The other half of [`measure`]: call it first in `main`.
pub fn measure_if_asked() {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|a| a != "--measure") {
        return;
    }
    let program = args.next().expect("a program to measure");
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status()
        .expect("the program starts");
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)
        .expect("usage is known");
    let time = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    let seconds = time(usage.user_time()) + time(usage.system_time());
    let megabytes = usage.max_rss() as f64 / 1024.0;
    println!("{seconds} {megabytes} {}", status.code().unwrap_or(-1));
    std::process::exit(0);
}

/// The median of some costs, each number for itself.
pub fn median(costs: &[Cost]) -> Cost {
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Cost {
        seconds: middle(costs.iter().map(|c| c.seconds).collect()),
        megabytes: middle(costs.iter().map(|c| c.megabytes).collect()),
        code: costs[0].code,
    }
}

/// Makes models with the generator that `IOLITE_GEN_LTS` names, by default the one beside the
/// project, and keeps them for the next run.
pub struct Models {
    generator: PathBuf,
    folder: PathBuf,
}

impl Models {
    /// Finds the generator, or says what is missing.
    pub fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let beside = root.join("../shared/tools/gen_lts.py");
        let generator = std::env::var_os("IOLITE_GEN_LTS").map_or(beside, PathBuf::from);
        if !generator.exists() {
            eprintln!(
                "no model generator at {}; name one in IOLITE_GEN_LTS",
                generator.display()
            );
            std::process::exit(2);
        }
        let folder = root.join("target/bench-models");
        std::fs::create_dir_all(&folder).expect("target/bench-models can be made");
        Self { generator, folder }
    }

    /// The model with this name, made by these arguments of the generator. τ is spelled `tau`, as
    /// the peer wants it.
    pub fn make(&self, name: &str, args: &[&str]) -> String {
        let path = self.folder.join(format!("{name}.aut"));
        if !path.exists() {
            let status = Command::new("python3")
                .arg(&self.generator)
                .args(args)
                .args(["--tau-name", "tau", "-o"])
                .arg(&path)
                .status()
                .expect("python3 starts");
            assert!(status.success(), "the generator failed on {args:?}");
        }
        path.display().to_string()
    }

    /// The model with this name and these transitions, whose first state is 0 and whose states are numbered without a gap.
    pub fn write(&self, name: &str, transitions: &[(usize, &str, usize)]) -> String {
        let path = self.folder.join(format!("{name}.aut"));
        let states = transitions.iter().flat_map(|&(from, _, to)| [from, to]);
        let count = states.max().map_or(1, |last| last + 1);
        let mut text = format!("des (0,{},{count})\n", transitions.len());
        for (from, label, to) in transitions {
            text += &format!("({from},\"{label}\",{to})\n");
        }
        std::fs::write(&path, text).expect("target/bench-models can be written");
        path.display().to_string()
    }
}

impl Default for Models {
    fn default() -> Self {
        Self::new()
    }
}
