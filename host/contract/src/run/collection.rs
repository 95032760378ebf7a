//! The resource collection of a policy: types, declarations and lookup.

use super::amending::{check_actions, check_retry_delay};
use super::declaration::BUILTIN_OF_GUEST;
use super::{
    BUILTIN_PREFIX, Context, ContextId, Declaration, GuestId, GuestType, HOST_AS_GUEST, MAX_PER_RESOURCE,
    MAX_RESOURCES, Resource, ResourceId, Run,
};
use crate::{Failure, LogLevel, Outcome, Types};
use errors::{ErrorKind, chef};
use node::origin::Origin;
use std::sync::Arc;

impl Run {
    /// Registers a type that a guest implements. A later definition of the same guest replaces an earlier one.
    ///
    /// # Errors
    /// The name is empty or too long, or the policy's memory is used up.
    pub fn define(&mut self, guest_id: GuestId, name: String, guest_type: GuestType) -> Outcome {
        if name.is_empty() || name.len() > 256 {
            return Err(Failure::raised(ErrorKind::InvalidArgument, "a resource type's name has 1 to 256 characters"));
        }
        if self.builtin.default_action(&name).is_some() {
            let line = format!("policy `{}` replaces the built-in resource type `{name}` by its own", self.policy);
            self.log(LogLevel::Debug, &line);
        }
        self.pay(name.len() as u64 + TYPE_BYTES)?;
        self.types.entry(guest_id).or_default().insert(name, guest_type);
        Ok(())
    }

    pub(super) fn builtin(&self) -> &dyn Types {
        &*self.builtin
    }

    /// Returns the type's definition, if this guest implements the type.
    pub fn guest_type(&self, guest_id: GuestId, kind: &str) -> Option<GuestType> {
        self.types.get(&guest_id)?.get(kind).copied()
    }

    /// Returns the definition of a resource's type, if its guest implements the type.
    pub fn type_of(&self, declaration: &Declaration) -> Option<GuestType> {
        self.guest_type(declaration.guest_id, &declaration.kind)
    }

    /// Declares a resource in its context, or returns an error and changes nothing. In a unified context, the guest must send
    /// [`crate::Errand::Settle`] next.
    ///
    /// # Errors
    /// The type, a property, an action or the context is unknown, the policy has too many resources, or a notification is
    /// invalid.
    pub fn declare(&mut self, mut declaration: Declaration) -> Result<ResourceId, Failure> {
        let nesting = self.open(declaration.context)?.nesting;
        if let Some(builtin) = declaration.kind.strip_prefix(BUILTIN_PREFIX) {
            declaration.kind = builtin.to_owned();
            declaration.guest_id = BUILTIN_OF_GUEST;
        } else if declaration.guest_id != HOST_AS_GUEST && self.type_of(&declaration).is_none() {
            // The guest may announce a type of this name later. This resource keeps the built-in type.
            declaration.guest_id = BUILTIN_OF_GUEST;
        }
        let remark = self.remark_on_mode(&declaration);
        self.check(&mut declaration)?;
        self.suppress_shown(&mut declaration);
        // The mask of an action applies to everything inside it.
        if declaration.umask.is_none() {
            declaration.umask = self.umask_around(declaration.context);
        }
        let (context, detached) = (declaration.context, declaration.detached);
        let wishes = declaration.notifications.clone();
        let id = self.add(declaration, nesting)?;
        let key = Arc::clone(&self.known(id)?.key);
        // The declaration succeeds as a whole or not at all, so that a refused resource leaves no notifications.
        let notifications: Result<Vec<_>, _> = wishes.into_iter().map(|wish| self.interpret(id, wish)).collect();
        match notifications {
            Ok(notifications) => {
                for (context, note) in notifications {
                    self.register(context, note)?;
                }
            }
            Err(failure) => {
                self.resources.pop();
                return Err(failure);
            }
        }
        if let Some(remark) = remark {
            self.log(LogLevel::Warn, &remark);
        }
        let Some(there) = self.contexts.get_mut(context as usize).filter(|_| !detached) else { return Ok(id) };
        let before = there.by_key.insert(Arc::clone(&key), id);
        match &mut there.insert_at {
            Some(at) if *at <= there.resources.len() => {
                there.resources.insert(*at, id);
                *at += 1;
            }
            _ => there.resources.push(id),
        }
        if let Some(before) = before {
            self.note_repetition(context, &key, before, id);
        }
        Ok(id)
    }

    /// Adds a resource without putting it into a collection.
    ///
    /// # Errors
    /// The policy has too many resources, or its memory is used up.
    pub fn add(&mut self, declaration: Declaration, nesting: u32) -> Result<ResourceId, Failure> {
        if self.resources.len() >= MAX_RESOURCES {
            let message =
                format!("{} is one more than the {MAX_RESOURCES} resources that a policy may have", declaration.key());
            return Err(Failure::raised(ErrorKind::TooManyResources, message));
        }
        let paid = self.pay_for_declaration(&declaration)?;
        let id = ResourceId::try_from(self.resources.len()).unwrap_or(ResourceId::MAX);
        let kind = self.shared_kind(&declaration.kind);
        self.resources.push(Resource {
            key: declaration.key().into(),
            declaration,
            kind,
            updated: false,
            updated_by_last_action: false,
            retracted: false,
            unsure: false,
            surely_updated: false,
            converged: false,
            executed: false,
            before: None,
            after: None,
            nesting,
            paid,
        });
        Ok(id)
    }

    /// Returns the file mode creation mask of the action to which a context belongs.
    fn umask_around(&self, context: ContextId) -> Option<u32> {
        let (owner, _) = self.contexts.get(context as usize)?.owner?;
        self.resources.get(owner as usize)?.declaration.umask
    }

    /// Returns the name of a type. Successive resources of the same type share the text.
    fn shared_kind(&self, kind: &str) -> Arc<str> {
        let before = self.resources.last().filter(|before| &*before.kind == kind);
        before.map_or_else(|| kind.into(), |before| Arc::clone(&before.kind))
    }

    fn check(&self, declaration: &mut Declaration) -> Outcome {
        if declaration.notifications.len() + declaration.guards.len() > MAX_PER_RESOURCE {
            let message = format!("{} has more than {MAX_PER_RESOURCE} guards and notifications", declaration.key());
            return Err(Failure::raised(ErrorKind::TooManyNotifications, message));
        }
        check_actions(&declaration.actions)?;
        check_actions(declaration.notifications.iter().map(|wish| &wish.action))?;
        check_retry_delay(declaration.retry_delay)?;
        match self.guest_type(declaration.guest_id, &declaration.kind) {
            None => self.builtin.check(declaration),
            Some(_) => self.builtin.check_own(declaration),
        }
    }

    /// Returns the resource with a number, which a guest may choose freely.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn known(&self, id: ResourceId) -> Result<&Resource, Failure> {
        self.resources
            .get(id as usize)
            .ok_or_else(|| Failure::raised(ErrorKind::InvalidResourceId, format!("there is no resource {id}")))
    }

    /// Returns a resource that a guest's calls may change or run. The parts of composite built-in types belong to the host: a
    /// guest that changed one would act with the rights of its composite.
    ///
    /// # Errors
    /// The resource does not exist, or it is a part of a composite built-in type.
    pub fn of_guests(&self, id: ResourceId) -> Result<&Resource, Failure> {
        let resource = self.known(id)?;
        if resource.declaration.guest_id == HOST_AS_GUEST {
            let message =
                format!("{} is a part of a built-in resource, which no cookbook can change or run", resource.key);
            return Err(Failure::raised(ErrorKind::InvalidResourceId, message));
        }
        Ok(resource)
    }

    /// Returns a resource of a guest's own type, whose actions run in the guest.
    ///
    /// # Errors
    /// As [`of_guests`](Self::of_guests), or the resource has a built-in type.
    pub fn of_guest_type(&self, id: ResourceId) -> Result<&Resource, Failure> {
        let resource = self.of_guests(id)?;
        if self.type_of(&resource.declaration).is_none() {
            let message = format!("{} has a built-in type, so only the host reports what it does", resource.key);
            return Err(Failure::raised(ErrorKind::InvalidResourceId, message));
        }
        Ok(resource)
    }

    /// Returns the resource with a number, for a change.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn known_mut(&mut self, id: ResourceId) -> Result<&mut Resource, Failure> {
        self.resources
            .get_mut(id as usize)
            .ok_or_else(|| Failure::raised(ErrorKind::InvalidResourceId, format!("there is no resource {id}")))
    }

    /// Returns an open context.
    ///
    /// # Errors
    /// The context does not exist, or it has ended.
    pub fn open(&self, context: ContextId) -> Result<&Context, Failure> {
        let open = self.contexts.get(context as usize).filter(|context| !context.ended);
        open.ok_or_else(|| Failure::raised(ErrorKind::ContextEnded, format!("context {context} is not open")))
    }

    /// Checks a value of a built-in type's property that became known after the declaration.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`].
    pub fn check_property(
        &self,
        kind: &str,
        name: &str,
        property: super::Property,
    ) -> Result<super::Property, Failure> {
        let mut property = self.builtin.check_property(kind, name, property)?;
        self.suppress_property(kind, name, &mut property);
        Ok(property)
    }

    /// Checks that all required properties of a built-in type's action are set.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`].
    pub fn check_required(&self, id: ResourceId, action: &str) -> Outcome {
        let declaration = &self.known(id)?.declaration;
        self.builtin.check_required(&declaration.kind, action, &|name| declaration.property(name).is_some())
    }

    /// Returns a place in a cookbook for people. The path is absolute if the cookbook comes from a folder of the machine.
    pub fn place(&self, origin: &Origin) -> String {
        let (Some(file), Some(line)) = (&origin.file, origin.line) else { return String::new() };
        let folder = origin.cookbook.as_ref().and_then(|cookbook| self.places.get(cookbook));
        match folder {
            Some(folder) if file.ends_with(".rb") => {
                let in_action = file.starts_with("resources/") || file.starts_with("providers/");
                chef::declared_at(&format!("{folder}/{file}:{line}"), in_action)
            }
            Some(folder) => format!("{folder}/{file}:{line}"),
            None => format!("{file}:{line}"),
        }
    }

    /// Returns true if an action of a built-in type uses a property.
    pub fn uses(&self, kind: &str, action: &str, name: &str) -> bool {
        self.builtin.uses(kind, action, name)
    }

    /// Returns true for a composite built-in type, whose actions consist of other resources.
    pub fn is_composite(&self, kind: &str) -> bool {
        self.builtin.is_composite(kind)
    }

    /// Returns the failure of each action if wrun cannot run the resource's type, or `None`.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn without_provider(&self, id: ResourceId) -> Result<Option<Failure>, Failure> {
        let declaration = &self.known(id)?.declaration;
        let why = self.builtin.why_no_provider(&declaration.kind);
        Ok(why.map(|why| Failure::raised(ErrorKind::NoProvider, chef::without_provider(&declaration.key(), &why))))
    }

    /// Removes a resource from its context. It does not run in its normal order, and lookups do not find it.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn retract(&mut self, id: ResourceId) -> Outcome {
        let resource = self.known(id)?;
        let (context, key) = (resource.declaration.context, Arc::clone(&resource.key));
        self.open(context)?;
        let _looked_at_later = self.account.work(1);
        // It keeps its place in the list, so that other places do not change.
        self.known_mut(id)?.retracted = true;
        let Some(there) = self.contexts.get_mut(context as usize) else { return Ok(()) };
        if there.by_key.get(&key) == Some(&id) {
            there.by_key.remove(&key);
        }
        Ok(())
    }

    /// Finds a resource by key in the context or in an enclosing one. If a context has several, returns the last declared
    /// one.
    pub fn find(&self, context: ContextId, key: &str) -> Option<ResourceId> {
        let mut context = self.contexts.get(context as usize)?;
        loop {
            if let Some(id) = context.by_key.get(key) {
                return Some(*id);
            }
            context = self.contexts.get(context.parent? as usize)?;
        }
    }

    /// Returns the resources of a context, in order.
    pub fn all(&self, context: ContextId) -> Vec<ResourceId> {
        let listed = self.contexts.get(context as usize).into_iter().flat_map(|context| &context.resources);
        listed.copied().filter(|id| self.known(*id).is_ok_and(|resource| !resource.retracted)).collect()
    }

    /// Returns the resource at a place in the list of a context. Removed resources count, too.
    pub fn listed(&self, context: ContextId, at: usize) -> Option<ResourceId> {
        self.contexts.get(context as usize)?.resources.get(at).copied()
    }
}

/// Bytes of a type in addition to its name.
const TYPE_BYTES: u64 = 128;
