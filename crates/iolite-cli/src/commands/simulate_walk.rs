//! `iolite simulate` by hand, and what is possible after a given trace.

use iolite::{Error, Offer, Position, Taken, Walk};
use serde::Serialize;

use crate::output::dialogue::converse;
use crate::output::{Exit, print, print_json};

#[derive(Serialize)]
struct Document<'a> {
    /// The actions that were taken.
    trace: &'a [String],
    #[serde(flatten)]
    position: Position,
    /// The first action that could not be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stop>,
}

#[derive(Serialize)]
struct Stop {
    action: String,
    why: String,
}

/// Takes a trace, and says where it leads.
pub(crate) fn place_after(mut walk: Walk, trace: &[String], json: bool) -> Result<Exit, Error> {
    let mut stopped = None;
    for action in trace {
        let why = match walk.take(action)? {
            Taken::Moved => continue,
            Taken::NoAction => "is no action of the model".to_owned(),
            Taken::NotPossible(why) => why,
        };
        let action = action.clone();
        stopped = Some(Stop { action, why });
        break;
    }
    let position = walk.position()?;
    let exit = if stopped.is_some() {
        Exit::Fails
    } else {
        Exit::Holds
    };
    if json {
        let trace = walk.trace();
        print_json(&Document {
            trace,
            position,
            stopped,
        })?;
        return Ok(exit);
    }
    if let Some(Stop { action, why }) = stopped {
        let after = walk.trace().join(" ");
        let after = if after.is_empty() { "ε" } else { &after };
        print(&format!("after {after}: {action} {why}\n"))?;
    }
    print(&described(&position))?;
    Ok(exit)
}

/// A talk with somebody who chooses one action after another.
pub(crate) fn by_hand(mut walk: Walk) -> Result<Exit, Error> {
    let mut offers = show(&mut walk)?;
    converse(|word| {
        match word {
            "q" | "quit" | "exit" => return Ok(false),
            "" => offers = show(&mut walk)?,
            "b" | "back" => {
                if !walk.back() {
                    print("this is the start\n")?;
                }
                offers = show(&mut walk)?;
            }
            "t" | "trace" => print(&format!("{}\n", walk.trace().join(" ")))?,
            "h" | "help" => print(
                "a number or a name takes that action, ?a(1) or !x(2) one with other values; delta, \
                 back, trace, quit\n",
            )?,
            word => {
                let number = word.parse::<usize>().ok();
                let offer = number.map(|n| n.checked_sub(1).and_then(|n| offers.get(n)));
                let action = match offer {
                    Some(Some(offer)) => offer.action.clone(),
                    Some(None) => {
                        let wrong = "is no number of those above; `help` lists what can be said";
                        print(&format!("`{word}` {wrong}\n"))?;
                        return Ok(true);
                    }
                    None => word.to_owned(),
                };
                match walk.take(&action)? {
                    Taken::Moved => offers = show(&mut walk)?,
                    Taken::NoAction => print(&format!(
                        "`{action}` is not possible here: the model has no such action; `help` lists what \
                         can be said\n"
                    ))?,
                    Taken::NotPossible(why) => print(&format!("{action} {why}\n"))?,
                }
            }
        }
        Ok(true)
    })
}

fn show(walk: &mut Walk) -> Result<Vec<Offer>, Error> {
    let position = walk.position()?;
    print(&described(&position))?;
    Ok(position.offers)
}

fn described(position: &Position) -> String {
    let mut text = format!("in {}\n", position.places.join(", "));
    for (k, offer) in position.offers.iter().enumerate() {
        let guard = offer.guard.as_ref();
        let all = guard.map_or(String::new(), |guard| format!("   of {guard}"));
        text += &format!("  {:>2}  {}{all}\n", k + 1, offer.action);
    }
    if position.silence_undecided {
        text += "      delta is undecided\n";
    }
    if position.offers.is_empty() {
        text += "  nothing is possible here; `back` takes the last action back\n";
    }
    text
}
