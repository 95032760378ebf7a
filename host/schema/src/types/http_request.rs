//! `http_request`.

use crate::property::{Default, Deputy, Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{TextMap, properties};

/// Sends an HTTP request.
pub static HTTP_REQUEST: ResourceType = ResourceType {
    name: "http_request",
    aliases: &[],
    doc: "Sends an HTTP request each time.",
    actions: &HTTP_REQUEST_ACTIONS,
    default_action: "get",
    properties: &[&[
        Property::text("url", "The address.").identity().deputy(Deputy::Host),
        Property::map("headers", "Headers of the request.").default(Literal::Map(&[])),
        Property::new("message", "The body of requests that have one; a map or list is sent as JSON.")
            .default_to(Default::Name),
    ]],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static HTTP_REQUEST_ACTIONS: [Action; 7] = [
    action("get", "Sends GET."),
    action("patch", "Sends PATCH with the message."),
    action("put", "Sends PUT with the message."),
    action("post", "Sends POST with the message."),
    action("delete", "Sends DELETE."),
    action("head", "Sends HEAD."),
    action("options", "Sends OPTIONS."),
];

properties! {
    /// The properties of `http_request`, but for the message, which may be bytes.
    pub struct HttpRequestProperties for HTTP_REQUEST {
        url: Option<String>,
        headers: TextMap,
    }
}
