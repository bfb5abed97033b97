//! The header `acc-name:`, which must say what `Acceptance:` says.

use iolite_property::acceptance::{AcceptanceFormula, Colours};

/// Subsets of the acceptance sets that are compared where there are too many for all of them.
const SAMPLES: usize = 4096;
/// Colours that all the samples together may have to be asked for: of very many sets fewer subsets are compared.
const MAX_ASKED: usize = 1 << 24;

/// What a name says of the colours that recur.
type Accepts = dyn Fn(&Colours) -> bool;

/// Whether a name fits an acceptance formula over so many sets; `None` for a name that is not known here.
///
/// `colours` completes a subset of the sets by the colours of complemented sets.
pub(super) fn fits(
    words: &[String],
    sets: usize,
    formula: &AcceptanceFormula,
    colours: impl Fn(Colours) -> Colours,
) -> Option<bool> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<usize>().ok();
    let has = |seen: &Colours, set: usize| seen.contains(set as u32);
    let (expected, accepts): (usize, Box<Accepts>) = match words.as_slice() {
        ["all"] => (0, Box::new(|_| true)),
        ["none"] => (0, Box::new(|_| false)),
        ["Buchi"] => (1, Box::new(move |seen| has(seen, 0))),
        ["co-Buchi"] => (1, Box::new(move |seen| !has(seen, 0))),
        ["generalized-Buchi", n] => {
            let n = number(n)?;
            (n, Box::new(move |seen| (0..n).all(|s| has(seen, s))))
        }
        ["generalized-co-Buchi", n] => {
            let n = number(n)?;
            (n, Box::new(move |seen| (0..n).any(|s| !has(seen, s))))
        }
        ["Streett", n] => {
            let n = number(n)?;
            let pair = move |seen: &Colours, k: usize| !has(seen, 2 * k) || has(seen, 2 * k + 1);
            (
                n.checked_mul(2)?,
                Box::new(move |seen| (0..n).all(|k| pair(seen, k))),
            )
        }
        ["Rabin", n] => {
            let n = number(n)?;
            let pair = move |seen: &Colours, k: usize| !has(seen, 2 * k) && has(seen, 2 * k + 1);
            (
                n.checked_mul(2)?,
                Box::new(move |seen| (0..n).any(|k| pair(seen, k))),
            )
        }
        [
            "parity",
            order @ ("min" | "max"),
            kind @ ("even" | "odd"),
            n,
        ] => {
            let n = number(n)?;
            let (least, odd) = (*order == "min", usize::from(*kind == "odd"));
            // Runs that meet no set at all are accepted or not as the formula has it: writers differ.
            let nothing = formula.accepts(&colours(Colours::default()));
            let accepts = move |seen: &Colours| {
                let mut inside = (0..n).filter(|&s| has(seen, s));
                let deciding = if least {
                    inside.next()
                } else {
                    inside.next_back()
                };
                deciding.map_or(nothing, |s| s % 2 == odd)
            };
            (n, Box::new(accepts))
        }
        _ => return None,
    };
    if expected != sets {
        return Some(false);
    }
    let agree = |seen: Colours| formula.accepts(&colours(seen.clone())) == accepts(&seen);
    Some(if sets <= 12 {
        (0..1 << sets).map(Colours::few).all(agree)
    } else {
        // Weyl's sequence: every set is there about as often as not.
        let bit = |k: usize, set: u32| {
            let place = (k as u64) << 24 | u64::from(set);
            place.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) >> 63 == 1
        };
        let sample = |k: usize| (0..sets as u32).filter(|&set| bit(k, set)).collect();
        let samples = SAMPLES.min(MAX_ASKED / sets).max(1);
        (0..samples).map(sample).all(agree)
    })
}
