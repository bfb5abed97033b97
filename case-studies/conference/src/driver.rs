//! The tester's side of both access points.

use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use iolite::SystemUnderTest;

use crate::server::loopback;
use crate::{Sap, Server};

/// How long an answer to `sync` may take before the entity counts as hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// An entity over UDP, as a system under test.
pub struct Driver {
    fault: u8,
    server: Server,
    user: UdpSocket,
    network: UdpSocket,
    outputs: VecDeque<String>,
    /// The number of the last `sync`.
    synced: u64,
}

impl Driver {
    /// Starts an entity.
    pub fn new(fault: u8) -> io::Result<Self> {
        let (user, network) = (loopback()?, loopback()?);
        let server = Server::start(fault, user.local_addr()?, network.local_addr()?)?;
        user.connect(server.user)?;
        network.connect(server.network)?;
        user.set_read_timeout(Some(PATIENCE))?;
        network.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            fault,
            server,
            user,
            network,
            outputs: VecDeque::new(),
            synced: 0,
        })
    }

    fn socket(&self, sap: Sap) -> &UdpSocket {
        match sap {
            Sap::User => &self.user,
            Sap::Network => &self.network,
        }
    }

    /// What has arrived by now. The access points are read one after the other, so the order between
    /// them is nobody's.
    fn look(&mut self) -> io::Result<()> {
        for sap in [Sap::Network, Sap::User] {
            self.socket(sap).set_nonblocking(true)?;
            while let Ok(message) = receive(self.socket(sap)) {
                self.keep(sap, &message);
            }
            self.socket(sap).set_nonblocking(false)?;
        }
        Ok(())
    }

    /// Reads until the entity says that all that was sent at both access points is dealt with, or until
    /// there is an output. Loopback delivers a datagram before the sender goes on, so nothing is under
    /// way any more when this ends without one.
    fn settle(&mut self) -> io::Result<()> {
        self.synced += 1;
        let own = format!("synced {}", self.synced);
        let question = format!("sync {}", self.synced);
        for sap in [Sap::User, Sap::Network] {
            self.socket(sap).send(question.as_bytes())?;
        }
        for sap in [Sap::User, Sap::Network] {
            loop {
                let message = receive(self.socket(sap))?;
                if message == own {
                    break;
                }
                self.keep(sap, &message);
                if !self.outputs.is_empty() {
                    return Ok(());
                }
            }
        }
        self.look()
    }

    fn keep(&mut self, sap: Sap, message: &str) {
        // The answer to a question that an output made idle.
        if message.starts_with("synced ") {
            return;
        }
        self.outputs.push_back(action(sap, message));
    }
}

fn receive(socket: &UdpSocket) -> io::Result<String> {
    let mut buffer = [0; 512];
    let length = socket.recv(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// `2 data 1 3` of the network is `dataTo(2, 1, 3)`, `heard 2 3` of the user `heard(2, 3)`.
pub(crate) fn action(sap: Sap, message: &str) -> String {
    let mut words: Vec<&str> = message.split_whitespace().collect();
    let kind = match (sap, words.len()) {
        (Sap::Network, 2..) => format!("{}To", words.remove(1)),
        (Sap::User, 1..) => words.remove(0).to_owned(),
        _ => return message.to_owned(),
    };
    format!("{kind}({})", words.join(", "))
}

/// `say(2)` goes to the user's access point as `say 2`, `dataFrom(2, 1, 3)` to the network's as
/// `2 data 1 3`.
pub(crate) fn datagram(action: &str) -> (Sap, String) {
    let (name, arguments) = action.split_once('(').unwrap_or((action, ""));
    let arguments: Vec<&str> = arguments
        .split([',', ')', ' '])
        .filter(|word| !word.is_empty())
        .collect();
    if let (Some(kind), Some((from, rest))) = (name.strip_suffix("From"), arguments.split_first()) {
        return (Sap::Network, format!("{from} {kind} {}", rest.join(" ")));
    }
    let words: Vec<&str> = std::iter::once(name).chain(arguments).collect();
    (Sap::User, words.join(" "))
}

impl Driver {
    fn reset(&mut self) {
        // Nothing of the last run is under way when the next begins.
        while self.output(PATIENCE).is_some() {}
        self.server.restart(self.fault);
    }

    fn stimulate(&mut self, stimulus: &str) {
        let (sap, message) = datagram(stimulus);
        // A panic here ends the run with a fault of its own name, never with a verdict of silence.
        let sent = self.socket(sap).send(message.as_bytes());
        sent.expect("the entity is there");
    }

    fn output(&mut self, patience: Duration) -> Option<String> {
        if self.outputs.is_empty() {
            let mut read = self.look();
            if self.outputs.is_empty() && !patience.is_zero() {
                read = read.and_then(|()| self.settle());
            }
            read.expect("the entity is there");
        }
        self.outputs.pop_front()
    }
}

/// One entity for several campaigns: a run begins with a reset.
impl SystemUnderTest<String> for &mut Driver {
    fn reset(&mut self) {
        Driver::reset(self);
    }

    fn stimulate(&mut self, stimulus: &String) {
        Driver::stimulate(self, stimulus);
    }

    fn output(&mut self, patience: Duration) -> Option<String> {
        Driver::output(self, patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_and_datagrams() {
        assert_eq!(datagram("leave"), (Sap::User, "leave".to_owned()));
        assert_eq!(datagram("say(2)"), (Sap::User, "say 2".to_owned()));
        let data = (Sap::Network, "2 data 1 3".to_owned());
        assert_eq!(datagram("dataFrom(2, 1, 3)"), data);
        assert_eq!(action(Sap::Network, "2 data 1 3"), "dataTo(2, 1, 3)");
        assert_eq!(action(Sap::User, "heard 2 3"), "heard(2, 3)");
    }
}
