//! The Rust side of the Ruby runtime.
//!
//! CRuby calls the host through one function with bytes as argument and result. This component has its own memory. It parses
//! such a request, calls the contract and encodes the reply. Rejected: an adapter that builds the contract's records inside
//! Ruby's memory. Adapters must not have data of their own, so all its code would be written by hand. And packing records in
//! Ruby takes ten times as long as Ruby's JSON generator, which is written in C.
//!
//! The bridge neither decides nor checks anything. The host does. A cookbook may call the bridge directly. The host then
//! treats it like any other guest.

mod bindings;
mod collection;
mod interfaces;
mod machine;
mod printed;
mod reply;
mod request;
mod turns;
mod values;
mod words;

use bindings::exports::wrun::ruby::bridge::Guest;
use bindings::wrun::{clock::clock, output::log as output, random::random};
use reply::Reply;
use request::Request;

struct Bridge;

bindings::export!(Bridge with_types_in bindings);

impl Guest for Bridge {
    fn call(request: Vec<u8>) -> Vec<u8> {
        let answered = Request::parse(&request).and_then(|request| answer(&request));
        answered.unwrap_or_else(|refused| refused).into_bytes()
    }

    fn print(channel: u32, text: Vec<u8>) {
        printed::take(channel, &text);
    }

    fn now() -> u64 {
        let now = clock::now();
        let seconds = u64::try_from(now.seconds).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::from(now.nanoseconds))
    }

    fn monotonic() -> u64 {
        clock::monotonic()
    }

    fn sleep(nanoseconds: u64) {
        /// The maximum duration of one `clock.sleep`, in milliseconds.
        const LONGEST: u64 = 60_000;
        let mut left = nanoseconds.div_ceil(1_000_000);
        while left > 0 {
            let now = left.min(LONGEST);
            clock::sleep(u32::try_from(now).unwrap_or(u32::MAX));
            left -= now;
        }
    }

    fn may_be_random() -> bool {
        random::bytes(1).is_some()
    }

    fn random() -> u64 {
        let bytes = random::bytes(8).unwrap_or_default();
        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn last_words(text: Vec<u8>) {
        printed::flush();
        output::log(output::Level::Fatal, &text);
    }
}

/// Calls the function that a request names. An error of the contract becomes a reply, too.
fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.interface {
        "turns" => turns::answer(request),
        "resources" => collection::answer(request),
        "machine" => machine::answer(request),
        _ => interfaces::answer(request),
    }
}
