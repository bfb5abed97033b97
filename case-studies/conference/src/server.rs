//! An entity behind two UDP sockets on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{Entity, Sap};

/// The largest datagram that is read.
const LARGEST: usize = 512;

/// A running entity. It ends when this is dropped.
pub struct Server {
    entity: Arc<Mutex<Entity>>,
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// Where the user's datagrams go.
    pub user: SocketAddr,
    /// Where the network's datagrams go.
    pub network: SocketAddr,
}

/// A socket of this machine, for this machine.
pub(crate) fn loopback() -> io::Result<UdpSocket> {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
}

impl Server {
    /// Starts an entity whose user and network are at these addresses.
    pub fn start(fault: u8, user: SocketAddr, network: SocketAddr) -> io::Result<Self> {
        let sockets = Arc::new((loopback()?, loopback()?));
        sockets.0.connect(user)?;
        sockets.1.connect(network)?;
        let entity = Arc::new(Mutex::new(Entity::new(fault)));
        let ended = Arc::new(AtomicBool::new(false));
        let mut server = Self {
            user: sockets.0.local_addr()?,
            network: sockets.1.local_addr()?,
            entity: Arc::clone(&entity),
            ended: Arc::clone(&ended),
            threads: Vec::new(),
        };
        for sap in [Sap::User, Sap::Network] {
            let (sockets, entity, ended) = (
                Arc::clone(&sockets),
                Arc::clone(&entity),
                Arc::clone(&ended),
            );
            own(&sockets, sap).set_read_timeout(Some(Duration::from_millis(100)))?;
            server.threads.push(thread::spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    serve(&sockets, sap, &entity);
                }
            }));
        }
        Ok(server)
    }

    /// The user of a fresh entity is in no conference.
    pub fn restart(&self, fault: u8) {
        *self.entity.lock().unwrap_or_else(PoisonError::into_inner) = Entity::new(fault);
    }
}

fn own(sockets: &(UdpSocket, UdpSocket), sap: Sap) -> &UdpSocket {
    match sap {
        Sap::User => &sockets.0,
        Sap::Network => &sockets.1,
    }
}

/// Takes one datagram, if one comes.
fn serve(sockets: &(UdpSocket, UdpSocket), sap: Sap, entity: &Mutex<Entity>) {
    let mut buffer = [0; LARGEST];
    let Ok(length) = own(sockets, sap).recv(&mut buffer) else {
        return;
    };
    let message = String::from_utf8_lossy(&buffer[..length]).into_owned();
    // Answers leave before the next message is taken, so that their order is that of the messages.
    let mut entity = entity.lock().unwrap_or_else(PoisonError::into_inner);
    let answers = match message.strip_prefix("sync ") {
        // Whatever was sent before it is dealt with: a tester need not wait to know of silence.
        Some(number) => vec![(sap, format!("synced {number}"))],
        None => entity.take(sap, &message),
    };
    for (sap, answer) in answers {
        // A datagram may be lost; so may this one.
        let _ = own(sockets, sap).send(answer.as_bytes());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
