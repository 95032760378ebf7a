//! The Rust side of the Ruby runtime.
//!
//! CRuby reaches the outside through one function that takes and gives bytes. This component has a memory of its own,
//! takes such a request apart, calls the contract and wraps the answer. Rejected: lowering the contract's records inside
//! Ruby's memory, in an adapter: adapters may have no data of their own, so that all of it would have to be written by
//! hand, and records packed in Ruby cost ten times what its JSON generator, written in C, costs.
//!
//! Nothing here decides or checks: the host does. A cookbook that reaches this side directly can say what it likes, and
//! is answered like any other guest.

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
        /// What the contract waits at most at a time.
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

/// Finds the function that a request names. Refusals are replies too.
fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.interface {
        "turns" => turns::answer(request),
        "resources" => collection::answer(request),
        "machine" => machine::answer(request),
        _ => interfaces::answer(request),
    }
}
