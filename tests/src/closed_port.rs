//! A port without a listener.

use std::net::{SocketAddr, TcpListener, TcpStream};

use anyhow::Result;

/// A port of 127.0.0.1 without a listener, as long as this value exists. A connection uses the port, so that no other test
/// gets it.
#[derive(Debug)]
pub struct ClosedPort {
    _listener: TcpListener,
    connection: TcpStream,
}

impl ClosedPort {
    /// Reserves a free port.
    ///
    /// # Errors
    /// The machine has no free port.
    pub fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let connection = TcpStream::connect(listener.local_addr()?)?;
        Ok(Self { _listener: listener, connection })
    }

    /// Returns the address, which refuses connections.
    ///
    /// # Errors
    /// The system does not tell it.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.connection.local_addr()?)
    }
}
