//! `remote_file`: content from a server or, by a `file:` address, from the node itself.

mod address;

use super::asked;
use super::file_content::{self, Content, Current, Source};
use crate::notes;
use crate::plan::{Plan, Provider, View};
use crate::secrets::SENSITIVE;
use address::Address;
use contract::{Certainty, ErrorKind, FileCall, LogLevel, Raised, SystemError, Wanted};
use errors::chef;
use machine::denied::denied;
use machine::digest::Digest;
use machine::download::{self, CacheControl, DownloadRequest, Fetched};
use machine::pace::Paced;
use machine::remarks::remark;
use machine::root::NamelessFile;
use schema::typed::Declared;
use schema::types::file::FileProperties;
use schema::types::remote_file::RemoteFileProperties;
use std::sync::Arc;

/// Tells whether the next address of the list is tried after this failure, as in Chef.
fn tries_next(failure: &Raised) -> bool {
    matches!(
        failure.kind,
        ErrorKind::Unreachable
            | ErrorKind::ConnectTimeout
            | ErrorKind::ReadTimeout
            | ErrorKind::HttpClientError
            | ErrorKind::HttpServerError
            | ErrorKind::System(
                SystemError::ConnectionRefused
                    | SystemError::NotFound
                    | SystemError::Access
                    | SystemError::TimedOut
                    | SystemError::HostUnreachable
            )
    )
}

/// The provider of `remote_file`: it downloads or copies a file.
pub(crate) struct RemoteFile;

impl Provider for RemoteFile {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let RemoteFileProperties { remote_user, remote_domain, remote_password, .. } = asked::properties(wanted)?;
        if remote_user.or(remote_domain).or(remote_password).is_some() {
            return Err(Raised::new(
                ErrorKind::UnsupportedPlatform,
                "'remote_user', 'remote_domain' and 'remote_password' properties are supported only for Windows platform",
            ));
        }
        match file_content::plan(self, wanted, view) {
            Err(raised) if view.why_run && (download::is_unreachable(&raised) || is_brought(&raised, wanted, view)) => {
                unreachable(wanted, view, &raised)
            }
            planned => planned,
        }
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        let _path = file_content::ask(wanted, view);
        let RemoteFileProperties { source, .. } = asked::properties(wanted)?;
        for source in source.iter().flatten() {
            let _source = match Address::of(source)? {
                Address::Http(url) => view.grants.download(&url).map(drop),
                Address::File(path) => view.grants.read_path(&view.root.asked_about(&path)).map(drop),
            };
        }
        self.survey(wanted, view)
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        file_content::survey(wanted, view)
    }

    // The same address may send other content each time, so a second plan may differ.
    fn settles(&self, _action: &str) -> bool {
        false
    }
}

impl Source for RemoteFile {
    fn content<'w>(
        &self,
        wanted: &'w Wanted<'_>,
        current: &mut Current,
        view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        let properties: RemoteFileProperties = asked::properties(wanted)?;
        // A policy that may not read the file could find its digest by trying character by character, and from the digest a
        // short secret.
        let may_read = view.grants.may_look(current.granted.path()).is_some();
        if let Some(checksum) = properties.checksum.as_deref().filter(|_| may_read) {
            let digest = current.digest()?;
            if digest.is_some_and(|digest| has_beginning(digest.text(), checksum)) {
                return Ok(None);
            }
        }
        let Some(sources) = &properties.source else { return Err(download::no_address()) };
        let addresses = sources.iter().map(|source| Address::of(source)).collect::<Result<Vec<_>, _>>()?;
        let mut failed = Raised::new(ErrorKind::InvalidArgument, "remote_file has an empty source");
        for (at, address) in addresses.iter().enumerate() {
            match fetch(address, &properties, current, view) {
                Err(raised) if tries_next(&raised) && at + 1 == addresses.len() => failed = raised,
                Err(raised) if tries_next(&raised) => {
                    let why = if view.sensitive {
                        SENSITIVE
                    } else {
                        chef::without_repetition(raised.class(), &raised.message)
                    };
                    let line = format!("a source of {} cannot be had: {why}", wanted.declaration.key());
                    remark(&view.settings.account, LogLevel::Warn, &line);
                    failed = raised;
                }
                other => return other,
            }
        }
        Err(failed)
    }
}

/// Returns the plan of a dry run that cannot reach the server, or whose source comes later: the content is unknown. Later
/// resources may assume that the file would exist.
fn unreachable(wanted: &Wanted<'_>, view: &View<'_>, raised: &Raised) -> Result<Plan, Raised> {
    let FileProperties { path, .. } = asked::properties(wanted)?;
    let mut plan = Plan::uncertain(Certainty::Unknown(format!(
        "what {path} would hold is not known, since it cannot be fetched now: {}",
        chef::without_repetition(raised.class(), &raised.message)
    )));
    if let Ok(future_place) = view.root.future_place(&path) {
        plan.assume(file_content::assumption(&future_place.real(), false));
    }
    Ok(plan)
}

/// Downloads from one address. Returns `None` if the server reports that the present file is unchanged.
fn fetch(
    address: &Address<'_>,
    properties: &RemoteFileProperties,
    current: &mut Current,
    view: &mut View<'_>,
) -> Result<Option<Content<'static>>, Raised> {
    let url = match address {
        Address::File(path) => return local(path, view).map(Some),
        Address::Http(url) => url.as_ref(),
    };
    let mut headers = properties.headers.clone();
    let (by_tag, by_time) = conditions(properties);
    let record = if by_tag || by_time { view.cache.and_then(|cache| CacheControl::load(cache, url)) } else { None };
    if let (Some(record), Some(digest)) = (record, current.digest()?)
        && record.is_about(&digest)
    {
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|_| !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))) {
                headers.push((name.to_owned(), value));
            }
        };
        add("if-modified-since", record.modified.filter(|_| by_time));
        add("if-none-match", record.etag.filter(|_| by_tag));
    }
    let verify = properties.ssl_verify_mode.as_deref() != Some("verify_none");
    if !verify && properties.checksum.as_ref().is_none_or(|checksum| checksum.len() != 64) {
        return Err(Raised::new(
            ErrorKind::Tls,
            "a server that need not prove who it is may send anything: ssl_verify_mode verify_none needs a checksum",
        ));
    }
    let wish = DownloadRequest { url, headers, compressed: !url.ends_with("gz"), verify };
    let fetched = download::fetch(
        view.grants,
        view.cache.map(AsRef::as_ref),
        &wish,
        view.settings.downloads,
        view.root.account(),
    );
    match fetched.map_err(|raised| download::worded(raised, url))? {
        Fetched::NotModified => Ok(None),
        Fetched::File(file, control) => {
            // This is a record of wrun and not of the machine. It is used only for a file with exactly this content.
            if let Some(cache) = view.cache.filter(|_| !view.why_run && (by_tag || by_time)) {
                let note = control.save(cache, url)?;
                notes::keep(view.caches, cache, &note)?;
            }
            Ok(Some(Content::File(Arc::new(file))))
        }
    }
}

/// Tells whether a file of the node is missing that the resource copies and that an earlier resource of this dry run brings.
fn is_brought(raised: &Raised, wanted: &Wanted<'_>, view: &View<'_>) -> bool {
    let Ok(RemoteFileProperties { source, .. }) = asked::properties(wanted) else { return false };
    let comes = |source: &String| match Address::of(source) {
        Ok(Address::File(path)) => view.root.future_place(&path).is_ok_and(|place| view.assumed.path(&place.real())),
        _ => false,
    };
    matches!(raised.kind, ErrorKind::System(SystemError::NotFound)) && source.unwrap_or_default().iter().any(comes)
}

/// Opens a file of the node itself. Copying it reveals its content, so this needs the right to read it.
fn local(path: &str, view: &View<'_>) -> Result<Content<'static>, Raised> {
    let absent = |fault: machine::root::Fault| -> Raised { fault.during(FileCall::Open).about(path).into() };
    let place = view.root.locate_target(path);
    let real = match &place {
        Ok(place) => place.real().to_owned(),
        Err(fault) => fault.real().map_or_else(|| view.root.asked_about(path), str::to_owned),
    };
    // An error about the file is returned only after this check.
    let readable = view.grants.read_path(&real).map_err(denied)?;
    let place = place.map_err(absent)?;
    let (handle, entry) = place.open_file().map_err(absent)?;
    let file = std::fs::File::from(handle);
    let unreadable =
        |error: std::io::Error| Raised::new(ErrorKind::InputOutput, format!("{}: {error}", readable.path()));
    let digest = Digest::read(Paced::new(&file, view.root.account())).map_err(unreadable)?;
    let _open = view.root.account().open_file();
    Ok(Content::File(Arc::new(NamelessFile { file, size: entry.size, digest, _open })))
}

/// Returns whether the request uses the ETag and the time of the last download. `use_conditional_get` applies to those that
/// the declaration does not set.
fn conditions(properties: &RemoteFileProperties) -> (bool, bool) {
    let RemoteFileProperties { use_etag, use_last_modified, use_conditional_get, .. } = properties;
    let one = |own: Declared<bool>| own.0.or(*use_conditional_get).unwrap_or(true);
    (one(use_etag.clone()), one(use_last_modified.clone()))
}

fn has_beginning(digest: &str, beginning: &str) -> bool {
    digest.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}
