//! `http_request`: sends a request in every run. `head` only asks, so a dry run sends it too. It counts as a change unless
//! the server reports that nothing changed.
//!
//! A message that is not text is sent as JSON.

use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use crate::withheld::Withheld;
use contract::{Certainty, Change, HttpRequest, HttpResponse, Known, Raised, Wanted};
use errors::chef;
use grants::GrantedUrl;
use machine::denied::denied;
use machine::download;
use schema::types::http_request::HttpRequestProperties;
use serde_json::Value;

/// The provider of `http_request`: it sends one request.
pub(crate) struct Request;

impl Provider for Request {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let method = wanted.action.to_ascii_uppercase();
        let HttpRequestProperties { url, headers } = asked::properties(wanted)?;
        let Some(url) = url else {
            if wanted.action == "head" {
                return Err(download::no_address());
            }
            let sentence = format!("{} {method} to ", wanted.declaration.key());
            return Ok(Plan::steps(vec![send(sentence, None, None)]));
        };
        let with_body = matches!(wanted.action, "patch" | "put" | "post");
        let body = with_body.then(|| message(wanted));
        let request = HttpRequest { method: method.clone(), url: url.clone(), headers, body };
        let server = view.grants.download(&url).map_err(denied)?;
        let sentence = format!("{} {method} to {url}", wanted.declaration.key());
        if wanted.action == "head" {
            let response =
                match download::request_of(&request, view.grants, view.settings.downloads, view.root.account())
                    .map_err(|raised| download::worded(raised, &request.url))
                {
                    Err(raised) if view.why_run && download::is_unreachable(&raised) => {
                        let why = chef::without_repetition(raised.class(), &raised.message).to_owned();
                        return Ok(Plan::uncertain(Certainty::Unknown(why)));
                    }
                    answer => answer?,
                };
            if response.status == 304 {
                return Ok(Plan::up_to_date());
            }
            succeeded(&response)?;
            let sentence = format!("{sentence} returned modified, trigger notifications");
            return Ok(Plan::steps(vec![Step::new(Change::new(sentence), Operation::Nothing)]));
        }
        Ok(Plan::steps(vec![send(sentence, Some(request), Some(server))]))
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        let HttpRequestProperties { url, .. } = asked::properties(wanted)?;
        url.iter().try_for_each(|url| view.grants.download(url).map(drop)).map_err(denied)
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

fn send(sentence: String, request: Option<HttpRequest>, server: Option<GrantedUrl>) -> Step {
    let operation = SendRequest { request: Withheld(request), _server: Withheld(server) };
    Step::new(Change::new(sentence), Operation::SendRequest(Box::new(operation)))
}

/// A request to send.
#[derive(Debug)]
pub(crate) struct SendRequest {
    /// The request. `None`: the resource has no address. As in Chef, that is an error only when the request is sent.
    request: Withheld<Option<HttpRequest>>,
    /// The right to contact the server.
    _server: Withheld<Option<GrantedUrl>>,
}

impl SendRequest {
    /// Sends the request, within the policy's grants and limits.
    ///
    /// # Errors
    /// There is no address, the server does not answer, or it reports a failure.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let request = self.request.0.ok_or_else(download::no_address)?;
        let response = download::request_of(
            &request,
            &writer.settings.grants,
            writer.settings.downloads,
            &writer.settings.account,
        )
        .map_err(|raised| download::worded(raised, &request.url))?;
        succeeded(&response)
    }
}

/// Returns the body: the message, or the resource's name.
fn message(wanted: &Wanted<'_>) -> Vec<u8> {
    match wanted.get("message") {
        Some(Known::Bytes(bytes)) => bytes.to_vec(),
        Some(Known::Json(Value::String(text))) => text.clone().into_bytes(),
        Some(Known::Json(Value::Null)) | None => wanted.declaration.name.clone().into_bytes(),
        Some(Known::Json(other)) => other.to_string().into_bytes(),
    }
}

fn succeeded(response: &HttpResponse) -> Result<(), Raised> {
    match response.status {
        200..=299 | 304 => Ok(()),
        status => Err(download::failed(status)),
    }
}
