//! The peer: one refinement check by merc, end to end, as a process of its own.
//!
//! Usage: `merc_peer trace|testing IMPL.aut SPEC.aut`; its reader wants τ spelled `tau`.

use std::fs::File;
use std::io::BufReader;

use merc_lts::read_mcrl2_aut;
use merc_refinement::{ExplorationStrategy, RefinementType, refines};
use merc_utilities::Timing;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [relation, implementation, specification] = args.as_slice() else {
        eprintln!("usage: merc_peer trace|testing IMPL.aut SPEC.aut");
        std::process::exit(2);
    };
    let kind = match relation.as_str() {
        "trace" => RefinementType::Weaktrace,
        "testing" => RefinementType::StableFailures,
        other => {
            eprintln!("merc_peer knows trace and testing, not {other}");
            std::process::exit(2);
        }
    };
    let read = |path: &str| {
        let file = File::open(path).unwrap_or_else(|e| panic!("{path}: {e}"));
        read_mcrl2_aut(BufReader::new(file)).unwrap_or_else(|e| panic!("{path}: {e}"))
    };
    let (i, s) = (read(implementation), read(specification));
    let mut timing = Timing::new();
    // Breadth first with a counterexample: what our own check always does.
    let (holds, _) = refines(
        i,
        s,
        kind,
        ExplorationStrategy::BFS,
        false,
        true,
        &mut timing,
    );
    println!("{holds}");
}
