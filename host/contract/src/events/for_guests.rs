//! Converts events for guests: Chef's names, and details as JSON (docs/events.md).

use super::{Event, Status};
use crate::{Failure, Resource, ResourceId};
use serde_json::{Value, json};

/// An event for a guest.
#[derive(Debug, Clone, PartialEq)]
pub struct GuestEvent {
    /// Chef's name of the event, one of [`Event::NAMES`].
    pub name: &'static str,
    /// A JSON object, which also has the key `name`.
    pub details: Value,
}

impl Status {
    /// Returns the name of the event for the end of an action.
    fn guest_name(self) -> &'static str {
        match self {
            Self::Updated => "resource_updated",
            Self::Unknown => "resource_unknown",
            Self::UpToDate => "resource_up_to_date",
            Self::Skipped => "resource_skipped",
            Self::Failed => "resource_failed",
            Self::Interrupted | Self::Unprocessed => "resource_unprocessed",
            Self::Bypassed => "resource_bypassed",
        }
    }
}

impl Event<'_> {
    /// The names of the events to which guests may subscribe, Chef's names if it has them. The runner sends exactly these
    /// events (docs/events.md).
    pub const NAMES: [&'static str; 17] = [
        "run_started",
        "converge_start",
        "recipe_file_loaded",
        "recipe_load_complete",
        "resource_action_start",
        "resource_updated",
        "resource_unknown",
        "resource_up_to_date",
        "resource_skipped",
        "resource_failed",
        "resource_failed_retriable",
        "resource_bypassed",
        "resource_completed",
        "converge_complete",
        "converge_failed",
        "run_completed",
        "run_failed",
    ];

    /// Returns the event's name for guests, or `None` if guests do not get it.
    pub fn guest_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::PolicyLoaded { .. } => "run_started",
            Self::RecipeCompiled { .. } => "recipe_file_loaded",
            Self::CompileFinished { .. } => "recipe_load_complete",
            Self::ConvergeStarted => "converge_start",
            Self::ActionStarted { .. } => "resource_action_start",
            Self::Retrying { .. } => "resource_failed_retriable",
            Self::ActionFinished { status, .. } => status.guest_name(),
            Self::ActionCompleted { .. } => "resource_completed",
            Self::ConvergeFinished { failure: None } => "converge_complete",
            Self::ConvergeFinished { failure: Some(_) } => "converge_failed",
            Self::PolicyStatus { succeeded: true, .. } => "run_completed",
            Self::PolicyStatus { succeeded: false, .. } => "run_failed",
            _ => return None,
        })
    }

    /// Returns the event for a guest that has subscribed to these names, or `None` for other events.
    pub(crate) fn for_guests_who(&self, listen: impl FnOnce(&str) -> bool) -> Option<GuestEvent> {
        let name = self.guest_name().filter(|name| listen(name))?;
        let mut details = match self {
            Self::PolicyLoaded { run_id, start_time } => json!({ "run_id": run_id, "start_time": start_time }),
            Self::RecipeCompiled { recipe } => json!({ "recipe": recipe }),
            Self::ActionStarted { id, resource, action, notified, .. } => {
                let notified = notified.map(|notified| json!({ "timing": notified.timing.name(), "by": notified.by }));
                of_action(*id, resource, action, json!({ "notified": notified }))
            }
            Self::Retrying { id, resource, action, left, failure, .. } => {
                // Chef's count includes the next attempt.
                let left = left.saturating_add(1);
                of_action(*id, resource, action, json!({ "left": left, "error": error(failure) }))
            }
            Self::ActionFinished { id, resource, action, conditional, failure, .. } => {
                let ended = json!({ "error": failure.map(error), "conditional": conditional });
                of_action(*id, resource, action, ended)
            }
            Self::ActionCompleted { id, resource, action } => of_action(*id, resource, action, json!({})),
            Self::ConvergeFinished { failure: Some(failure) } => json!({ "error": error(failure) }),
            Self::PolicyStatus { status, .. } => (*status).clone(),
            _ => json!({}),
        };
        if let Some(object) = details.as_object_mut() {
            object.insert("name".into(), name.into());
        }
        Some(GuestEvent { name, details })
    }
}

fn of_action(id: ResourceId, resource: &Resource, action: &str, mut details: Value) -> Value {
    let declaration = &resource.declaration;
    let (kind, name, origin) = (&declaration.kind, &declaration.name, &declaration.origin);
    if let Some(object) = details.as_object_mut() {
        let about =
            json!({ "id": id, "type": kind, "name": name, "cookbook": origin.cookbook, "recipe": origin.recipe });
        object.insert("action".into(), action.into());
        object.insert("resource".into(), about);
    }
    details
}

fn error(failure: &Failure) -> Value {
    json!({ "class": failure.class(), "message": failure.to_string() })
}
