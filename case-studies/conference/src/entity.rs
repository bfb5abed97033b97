//! A protocol entity: what it does with a message, and the faults that can be built into it.

/// A service access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sap {
    /// The user's.
    User,
    /// The network's.
    Network,
}

/// A message that the entity sends, and where.
pub type Sent = (Sap, String);

/// The other users that there may be.
const OTHERS: [u8; 2] = [2, 3];

/// How many faults there are.
pub const FAULTS: u8 = 27;

/// What each fault is, from 1. Nothing here says which of them a tester ought to find.
pub const NAMES: [&str; FAULTS as usize] = [
    "a join is told to user 2 only",
    "a join is told to nobody",
    "a join is told with the other conference",
    "a join is told to user 2 twice",
    "a join is not answered",
    "the answer names the other conference",
    "the answer goes to the other user",
    "joins of other conferences are answered",
    "a join is answered but not remembered",
    "an answer is not remembered",
    "answers of other conferences are remembered",
    "what the user says goes to user 2 only, if to anybody",
    "what the user says is sent as another text",
    "what the user says is sent to the other conference",
    "what the user says goes to everybody there may be",
    "data are not delivered",
    "data are delivered as user 1's",
    "text 3 is delivered as text 2",
    "data of other conferences are delivered",
    "data of a stranger are delivered, and the stranger forgotten",
    "data are delivered twice",
    "a leave is told to nobody",
    "a leave forgets nobody who took part",
    "a leave is told, but the entity stays",
    "a leave of another user is ignored",
    "a user who speaks without having joined hears an error",
    "a user who joins twice has changed the conference",
];

/// The state of an entity of user 1.
#[derive(Clone, Debug)]
pub struct Entity {
    /// The fault, from 1; 0 for none.
    fault: u8,
    conference: Option<u8>,
    /// Who takes part, as far as is known, in order.
    members: Vec<u8>,
}

impl Entity {
    /// An entity whose user is in no conference.
    pub fn new(fault: u8) -> Self {
        Self {
            fault,
            conference: None,
            members: Vec::new(),
        }
    }

    /// Takes a message; gives what is sent. Messages that are none are ignored.
    pub fn take(&mut self, sap: Sap, message: &str) -> Vec<Sent> {
        let mut words = message.split_whitespace();
        let number = |word: Option<&str>| word.and_then(|w| w.parse::<u8>().ok());
        match sap {
            Sap::User => match (words.next(), number(words.next())) {
                (Some("join"), Some(c)) => self.join(c),
                (Some("say"), Some(t)) => self.say(t),
                (Some("leave"), None) => self.leave(),
                _ => Vec::new(),
            },
            Sap::Network => {
                let from = number(words.next()).filter(|p| OTHERS.contains(p));
                let kind = words.next();
                let (c, t) = (number(words.next()), number(words.next()));
                match (from, kind, c, t) {
                    (Some(p), Some("join"), Some(c), None) => self.join_from(p, c),
                    (Some(p), Some("answer"), Some(c), None) => self.answer_from(p, c),
                    (Some(p), Some("data"), Some(c), Some(t)) => self.data_from(p, c, t),
                    (Some(p), Some("leave"), Some(c), None) => self.leave_from(p, c),
                    _ => Vec::new(),
                }
            }
        }
    }

    fn is(&self, fault: u8) -> bool {
        self.fault == fault
    }

    fn join(&mut self, c: u8) -> Vec<Sent> {
        match self.conference {
            Some(_) if !self.is(27) => return Vec::new(),
            Some(_) => self.members.clear(),
            None => {}
        }
        self.conference = Some(c);
        let mut to = OTHERS.to_vec();
        match self.fault {
            1 => to.truncate(1),
            2 => to.clear(),
            4 => to.push(2),
            _ => {}
        }
        let c = if self.is(3) { other(c) } else { c };
        to.into_iter().map(|p| network(p, "join", c)).collect()
    }

    fn say(&mut self, t: u8) -> Vec<Sent> {
        let Some(c) = self.conference else {
            if self.is(26) {
                return vec![heard(1, 0)];
            }
            return Vec::new();
        };
        let c = if self.is(14) { other(c) } else { c };
        let t = if self.is(13) { t % 3 + 1 } else { t };
        let to: Vec<u8> = match self.fault {
            12 => self
                .members
                .iter()
                .copied()
                .take_while(|&p| p == 2)
                .collect(),
            15 => OTHERS.to_vec(),
            _ => self.members.clone(),
        };
        let data = |p| (Sap::Network, format!("{p} data {c} {t}"));
        to.into_iter().map(data).collect()
    }

    fn leave(&mut self) -> Vec<Sent> {
        let Some(c) = self.conference else {
            return Vec::new();
        };
        let told = if self.is(22) {
            Vec::new()
        } else {
            self.members.clone()
        };
        if !self.is(24) {
            self.conference = None;
        }
        if !self.is(23) {
            self.members.clear();
        }
        told.into_iter().map(|p| network(p, "leave", c)).collect()
    }

    fn remember(&mut self, p: u8) {
        if let Err(at) = self.members.binary_search(&p) {
            self.members.insert(at, p);
        }
    }

    fn join_from(&mut self, p: u8, c: u8) -> Vec<Sent> {
        let Some(own) = self.conference else {
            return Vec::new();
        };
        if c != own && !self.is(8) {
            return Vec::new();
        }
        if !self.is(9) && c == own {
            self.remember(p);
        }
        match self.fault {
            5 => Vec::new(),
            6 => vec![network(p, "answer", other(c))],
            7 => vec![network(5 - p, "answer", c)],
            _ => vec![network(p, "answer", c)],
        }
    }

    fn answer_from(&mut self, p: u8, c: u8) -> Vec<Sent> {
        if let Some(own) = self.conference
            && !self.is(10)
            && (c == own || self.is(11))
        {
            self.remember(p);
        }
        Vec::new()
    }

    fn data_from(&mut self, p: u8, c: u8, t: u8) -> Vec<Sent> {
        let Some(own) = self.conference else {
            return Vec::new();
        };
        if c != own {
            return if self.is(19) {
                vec![heard(p, t)]
            } else {
                Vec::new()
            };
        }
        if !self.is(20) {
            self.remember(p);
        }
        match self.fault {
            16 => Vec::new(),
            17 => vec![heard(1, t)],
            18 if t == 3 => vec![heard(p, 2)],
            21 => vec![heard(p, t), heard(p, t)],
            _ => vec![heard(p, t)],
        }
    }

    fn leave_from(&mut self, p: u8, c: u8) -> Vec<Sent> {
        if self.conference == Some(c) && !self.is(25) {
            self.members.retain(|&member| member != p);
        }
        Vec::new()
    }
}

fn other(conference: u8) -> u8 {
    3 - conference.min(2)
}

fn network(p: u8, kind: &str, c: u8) -> Sent {
    (Sap::Network, format!("{p} {kind} {c}"))
}

fn heard(p: u8, t: u8) -> Sent {
    (Sap::User, format!("heard {p} {t}"))
}
