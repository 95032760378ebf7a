//! `http_request`: a request, sent each time. `head` is a question, so a dry run asks it too; it counts as a change unless
//! the server says that nothing changed.
//!
//! A message that is not text is sent as JSON.

use crate::plan::{Plan, Provider, Step, View};
use crate::resources::asked;
use contract::{Certainty, Change, HttpRequest, HttpResponse, Known, Raised, Wanted};
use machine::denied::denied;
use machine::download;
use serde_json::Value;

/// The provider of `http_request`: it sends one request.
pub(crate) struct Request;

impl Provider for Request {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let method = wanted.action.to_ascii_uppercase();
        let Some(url) = asked::text(wanted, "url") else {
            if wanted.action == "head" {
                return Err(download::no_address());
            }
            let sentence = format!("{} {method} to ", wanted.declaration.key());
            return Ok(Plan::steps(vec![Step::new(Change::new(sentence), |_writer| Err(download::no_address()))]));
        };
        let with_body = matches!(wanted.action, "patch" | "put" | "post");
        let body = with_body.then(|| message(wanted));
        let request =
            HttpRequest { method: method.clone(), url: url.clone(), headers: asked::map(wanted, "headers"), body };
        let _server = view.grants.download(&url).map_err(denied)?;
        let sentence = format!("{} {method} to {url}", wanted.declaration.key());
        if wanted.action == "head" {
            let response =
                match download::request_of(&request, view.grants, view.settings.downloads, view.root.account())
                    .map_err(|raised| download::worded(raised, &request.url))
                {
                    Err(raised) if view.why_run && download::is_unreachable(&raised) => {
                        return Ok(Plan::uncertain(Certainty::Unknown(raised.message)));
                    }
                    answer => answer?,
                };
            if response.status == 304 {
                return Ok(Plan::up_to_date());
            }
            succeeded(&response)?;
            let sentence = format!("{sentence} returned modified, trigger notifications");
            return Ok(Plan::steps(vec![Step::new(Change::new(sentence), |_writer| Ok(()))]));
        }
        let step = Step::new(Change::new(sentence), move |writer| {
            let response = download::request_of(
                &request,
                &writer.settings.grants,
                writer.settings.downloads,
                &writer.settings.account,
            )
            .map_err(|raised| download::worded(raised, &request.url))?;
            succeeded(&response)
        });
        Ok(Plan::steps(vec![step]))
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// What is sent: the message, or the resource's name.
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
