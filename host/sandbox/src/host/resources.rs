//! Lets guests declare, change and query resources.

use super::heard;
use crate::bindings::wrun::{resources::collection as wit, types::types};
use crate::policy::State;
use crate::policy_guest::PolicyGuest;
use crate::words;
use contract::{ErrorKind, Failure, GuestType, json_text_bytes};
use wasmtime::Result;

type Answer<T> = Result<Result<T, types::Raised>>;

/// Converts an outcome to the guest's form. A failure that ends the policy becomes a trap, and any other failure an
/// exception.
fn answer<T>(guest: PolicyGuest, outcome: Result<T, Failure>) -> Answer<T> {
    Ok(heard(outcome)?.map_err(|failure| words::raised(guest, failure)))
}

impl wit::Host for State {
    fn define(&mut self, from: wit::GuestType) -> Answer<()> {
        let guest_type = GuestType {
            unified: from.unified_mode,
            inspects: from.inspects,
            bypassed_in_why_run: from.bypassed_in_why_run,
        };
        let guest = self.guest;
        answer(guest, self.run()?.define(guest.guest_id(), from.name, guest_type))
    }

    fn declare(&mut self, declaration: wit::Declaration) -> Answer<u32> {
        let guest = self.guest;
        let _while_it_lasts = self.pay_for_call(words::declaration_bytes(&declaration))?;
        let run = self.run()?;
        let declaration = words::declaration(run.policy(), guest, declaration);
        answer(guest, declaration.and_then(|declaration| run.declare(declaration)))
    }

    fn retract(&mut self, id: u32) -> Answer<()> {
        let guest = self.guest;
        let run = self.run()?;
        let changeable = run.of_guests(id).map(drop);
        answer(guest, changeable.and_then(|()| run.retract(id)))
    }

    fn enter(&mut self, id: u32, parent: u32) -> Answer<u32> {
        let guest = self.guest;
        let run = self.run()?;
        let changeable = run.of_guests(id).map(drop);
        answer(guest, changeable.and_then(|()| run.enter(id, parent)))
    }

    fn find(&mut self, context: u32, key: String) -> Result<Option<u32>> {
        Ok(self.run()?.find(context, &key))
    }

    fn all(&mut self, context: u32) -> Result<Vec<u32>> {
        Ok(self.run()?.all(context))
    }

    fn describe(&mut self, id: u32) -> Result<Option<wit::ResourceName>> {
        let resource = self.run()?.known(id).ok();
        Ok(resource
            .map(|it| wit::ResourceName { kind: it.declaration.kind.clone(), name: it.declaration.name.clone() }))
    }

    fn amend(&mut self, id: u32, amendment: wit::Amendment) -> Answer<()> {
        let guest = self.guest;
        let _while_it_lasts = self.pay_for_call(words::amendment_bytes(&amendment))?;
        let run = self.run()?;
        let changeable = run.of_guests(id).map(drop);
        let amendment = changeable.and_then(|()| words::amendment(guest, amendment));
        answer(guest, amendment.and_then(|amendment| run.amend(id, amendment)))
    }

    fn get_property(&mut self, id: u32, name: String) -> Result<Option<wit::Property>> {
        let guest = self.guest;
        let resource = self.run()?.known(id).ok();
        // What wrun alone put together may have content of the machine that the policy may not read.
        let readable = resource.filter(|it| it.declaration.own.is_none());
        let property = readable.and_then(|it| it.declaration.property(&name));
        Ok(property.map(|property| words::property_back(guest, property)))
    }

    fn status(&mut self, id: u32) -> Result<Option<wit::ResourceStatus>> {
        let resource = self.run()?.known(id).ok();
        Ok(resource
            .map(|it| wit::ResourceStatus { updated: it.updated, updated_by_last_action: it.updated_by_last_action }))
    }

    fn observed(&mut self, id: u32, state: Option<String>) -> Answer<()> {
        let _while_it_lasts = self.pay_for_call(state.as_deref().map_or(0, json_text_bytes))?;
        let state = state.map_or(Ok(serde_json::Value::Null), |json| words::parse(&json));
        let state = state.map_err(|why| {
            Failure::raised(ErrorKind::InvalidArgument, format!("the current value is not JSON: {why}"))
        });
        let guest = self.guest;
        let run = self.run()?;
        let own = run.of_guest_type(id).map(drop);
        answer(guest, own.and(state).and_then(|state| run.observed(id, state)))
    }

    fn converge_by(&mut self, id: u32, what: Vec<String>) -> Answer<bool> {
        let guest = self.guest;
        let run = self.run()?;
        let own = run.of_guest_type(id).map(drop);
        answer(guest, own.and_then(|()| run.converge_by(id, what)))
    }

    fn set_updated(&mut self, id: u32, updated: bool) -> Answer<()> {
        let guest = self.guest;
        let run = self.run()?;
        let changeable = run.of_guests(id).map(drop);
        answer(guest, changeable.and_then(|()| run.mark(id, updated)))
    }
}
