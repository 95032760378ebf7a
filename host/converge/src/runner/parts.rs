//! Reports parts of an action as nested actions: resources that a provider creates within it.

use super::Runner;
use super::actions::ActionOutcome;
use contract::{Declaration, Failure, Guest, Outcome, Part, PartStatus, Providers, ResourceId};
use node::origin::Origin;
use std::sync::Arc;
use std::time::Instant;

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Records the parts of the open action. If a part failed, returns its error with the part's name.
    pub(super) async fn report_parts(&mut self, parent: ResourceId) -> Outcome {
        for part in self.providers.parts() {
            let began = Instant::now();
            let (action, changes) = (part.action, part.changes.clone());
            let went = match &part.outcome {
                Ok(PartStatus::Updated) => Ok(ActionOutcome::Updated),
                Ok(PartStatus::UpToDate) => Ok(ActionOutcome::UpToDate),
                Err(raised) => Err(Failure::from(raised.clone())),
            };
            let id = self.add_part(parent, part)?;
            let record = self.begin_record(id, action, None).await?;
            for change in changes {
                self.run.changed(id, change)?;
            }
            self.run.known_mut(id)?.mark(matches!(went, Ok(ActionOutcome::Updated)));
            self.finish_record(id, action, record, began, went).await?;
        }
        Ok(())
    }

    /// Adds a part to the run's resources. It is not in a collection, so only the report contains it.
    fn add_part(&mut self, parent: ResourceId, part: Part) -> Result<ResourceId, Failure> {
        let resource = self.run.known(parent)?;
        let (of, nesting) = (&resource.declaration, resource.nesting.saturating_add(1));
        let origin = Origin { cookbook: part.cookbook, recipe: None, ..of.origin.as_ref().clone() };
        let declaration = Declaration {
            context: of.context,
            kind: part.kind.into(),
            name: part.name,
            origin: Arc::new(origin),
            actions: vec![part.action.into()],
            sensitive: of.sensitive,
            detached: true,
            guest_id: of.guest_id,
            ..Declaration::default()
        };
        self.run.add(declaration, nesting)
    }
}
