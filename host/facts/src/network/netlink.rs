//! Queries the kernel's routing tables, see `rtnetlink(7)`.

use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use super::tables::{aligned, u16_at, u32_at};
use crate::limits;

/// Length of the header that precedes every message.
const HEADER: usize = 16;
/// Length of one datagram of an answer at most; the kernel sends no more than 32 kB at once.
const DATAGRAM: usize = 64 * 1024;
/// `NLM_F_REQUEST | NLM_F_DUMP`: the whole table.
const REQUEST_DUMP: u16 = 0x301;
const MESSAGE_ERROR: u16 = 2;
const MESSAGE_DONE: u16 = 3;
/// The kernel answers at once or not at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns the bodies of all messages of one table, without their headers. After an error, returns those received so far.
pub(super) fn dump(request: u16) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    // The messages received before an error are still valid.
    let _ = collect(request, &mut bodies);
    bodies
}

fn collect(request: u16, bodies: &mut Vec<Vec<u8>>) -> Result<(), Errno> {
    // The kernel's default netlink protocol is that of the routing tables.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    sendto(&socket, &question(request), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut datagram = vec![0; DATAGRAM];
    let mut received = 0_usize;
    while received <= limits::NETLINK_DUMP {
        let (length, whole_length) = match recv(&socket, datagram.as_mut_slice(), RecvFlags::TRUNC) {
            Err(Errno::INTR) => continue,
            answer => answer?,
        };
        received = received.saturating_add(length.max(1));
        let is_last = whole_length > length || take_messages(datagram.get(..length).unwrap_or_default(), bodies);
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Builds a message that requests a whole table for all families: the header, and a body of zeros that is long enough for
/// each kind.
fn question(request: u16) -> Vec<u8> {
    let mut message = vec![0_u8; HEADER + 16];
    let length = u32::try_from(message.len()).unwrap_or_default();
    let header = length.to_ne_bytes().into_iter().chain(request.to_ne_bytes()).chain(REQUEST_DUMP.to_ne_bytes());
    for (place, byte) in message.iter_mut().zip(header) {
        *place = byte;
    }
    message
}

/// Extracts the messages of a datagram. Returns whether the answer ends with it.
fn take_messages(mut datagram: &[u8], bodies: &mut Vec<Vec<u8>>) -> bool {
    while let (Some(length), Some(kind)) = (u32_at(datagram, 0), u16_at(datagram, 4)) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if matches!(kind, MESSAGE_DONE | MESSAGE_ERROR) {
            return true;
        }
        let Some(body) = datagram.get(HEADER..length) else { return true };
        bodies.push(body.to_vec());
        datagram = datagram.get(aligned(length)..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_datagrams_end_the_answer() {
        let message = |length: u32, kind: u16, body: &[u8]| {
            let mut bytes = length.to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.extend([0; 10]);
            bytes.extend(body);
            bytes
        };
        let check = |datagram: &[u8], expect_last: bool, expect: &[&[u8]]| {
            let mut bodies = Vec::new();
            assert_eq!(take_messages(datagram, &mut bodies), expect_last);
            assert_eq!(bodies, expect);
        };
        check(&message(20, 16, b"abcd"), false, &[b"abcd"]);
        check(&[message(18, 16, b"ab\0\0"), message(20, 3, b"done")].concat(), true, &[b"ab"]);
        check(&message(0, 16, b""), true, &[]);
        check(&message(15, 16, b""), true, &[]);
        check(&message(u32::MAX, 16, b"abcd"), true, &[]);
        check(&[1, 2, 3], false, &[]);
    }
}
