//! The resource collection of a policy: types, declarations, and how a resource is found.

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
    /// Announces a type that a guest implements; a later definition of that guest replaces an earlier one.
    ///
    /// # Errors
    /// The name is empty or too long; the policy's memory is used up.
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

    /// The type's traits, if the guest that declares a resource of it implements it.
    pub fn guest_type(&self, guest_id: GuestId, kind: &str) -> Option<GuestType> {
        self.types.get(&guest_id)?.get(kind).copied()
    }

    /// The same of a declared resource.
    pub fn type_of(&self, declaration: &Declaration) -> Option<GuestType> {
        self.guest_type(declaration.guest_id, &declaration.kind)
    }

    /// Puts a resource into its context, or changes nothing and says why not. In a unified context the guest must send
    /// [`crate::Errand::Settle`] next.
    ///
    /// # Errors
    /// Unknown type, property, action or context; too many resources; a notification that cannot be.
    pub fn declare(&mut self, mut declaration: Declaration) -> Result<ResourceId, Failure> {
        let nesting = self.open(declaration.context)?.nesting;
        if let Some(builtin) = declaration.kind.strip_prefix(BUILTIN_PREFIX) {
            declaration.kind = builtin.to_owned();
            declaration.guest_id = BUILTIN_OF_GUEST;
        } else if declaration.guest_id != HOST_AS_GUEST && self.type_of(&declaration).is_none() {
            // A type of this name that the guest announces later is not this resource's.
            declaration.guest_id = BUILTIN_OF_GUEST;
        }
        self.check(&mut declaration)?;
        self.suppress_shown(&mut declaration);
        // The mask of an action holds for all that happens inside it.
        if declaration.umask.is_none() {
            declaration.umask = self.umask_around(declaration.context);
        }
        let (context, detached) = (declaration.context, declaration.detached);
        let wishes = declaration.notifications.clone();
        let id = self.add(declaration, nesting)?;
        let key = Arc::clone(&self.known(id)?.key);
        // All or nothing: a notification must never outlive a resource that was refused.
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
        let Some(there) = self.contexts.get_mut(context as usize).filter(|_| !detached) else { return Ok(id) };
        there.by_key.insert(key, id);
        match &mut there.insert_at {
            Some(at) if *at <= there.resources.len() => {
                there.resources.insert(*at, id);
                *at += 1;
            }
            _ => there.resources.push(id),
        }
        Ok(id)
    }

    /// Adds a resource that no collection has yet.
    ///
    /// # Errors
    /// There are too many, or the policy's memory is used up.
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

    /// The file mode creation mask of the action that a context is around.
    fn umask_around(&self, context: ContextId) -> Option<u32> {
        let (owner, _) = self.contexts.get(context as usize)?.owner?;
        self.resources.get(owner as usize)?.declaration.umask
    }

    /// The name of a type. Resources of one type often follow each other: they share it.
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

    /// A guest may name any number; this is where it is held against what there is.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn known(&self, id: ResourceId) -> Result<&Resource, Failure> {
        self.resources
            .get(id as usize)
            .ok_or_else(|| Failure::raised(ErrorKind::InvalidResourceId, format!("there is no resource {id}")))
    }

    /// The same, to be changed.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn known_mut(&mut self, id: ResourceId) -> Result<&mut Resource, Failure> {
        self.resources
            .get_mut(id as usize)
            .ok_or_else(|| Failure::raised(ErrorKind::InvalidResourceId, format!("there is no resource {id}")))
    }

    /// A context that is open.
    ///
    /// # Errors
    /// The context does not exist, or it has ended.
    pub fn open(&self, context: ContextId) -> Result<&Context, Failure> {
        let open = self.contexts.get(context as usize).filter(|context| !context.ended);
        open.ok_or_else(|| Failure::raised(ErrorKind::ContextEnded, format!("context {context} is not open")))
    }

    /// Checks a value of a built-in type's property that is known only now.
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

    /// Whether everything that an action of a built-in type needs is set.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`].
    pub fn check_required(&self, id: ResourceId, action: &str) -> Outcome {
        let declaration = &self.known(id)?.declaration;
        self.builtin.check_required(&declaration.kind, action, &|name| declaration.property(name).is_some())
    }

    /// A place in a cookbook as a person finds it: absolute where the cookbook lies in a folder of the machine.
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

    /// Whether an action of a built-in type looks at a property.
    pub fn uses(&self, kind: &str, action: &str, name: &str) -> bool {
        self.builtin.uses(kind, action, name)
    }

    /// Tells whether the actions of a built-in type are made of other resources.
    pub fn is_composite(&self, kind: &str) -> bool {
        self.builtin.is_composite(kind)
    }

    /// Returns the failure of each action of a resource whose type nobody carries out; `None` for other resources.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn without_provider(&self, id: ResourceId) -> Result<Option<Failure>, Failure> {
        let declaration = &self.known(id)?.declaration;
        let why = self.builtin.why_no_provider(&declaration.kind);
        Ok(why.map(|why| Failure::raised(ErrorKind::NoProvider, chef::without_provider(&declaration.key(), &why))))
    }

    /// Takes a resource out of its context; it is not run where it stands, and nobody finds it any more.
    ///
    /// # Errors
    /// The resource does not exist.
    pub fn retract(&mut self, id: ResourceId) -> Outcome {
        let resource = self.known(id)?;
        let (context, key) = (resource.declaration.context, Arc::clone(&resource.key));
        self.open(context)?;
        let _looked_at_later = self.account.work(1);
        // It keeps its place in the list, so that nothing moves.
        self.known_mut(id)?.retracted = true;
        let Some(there) = self.contexts.get_mut(context as usize) else { return Ok(()) };
        if there.by_key.get(&key) == Some(&id) {
            there.by_key.remove(&key);
        }
        Ok(())
    }

    /// Looks in the context and in those around it; of two with one key the last declared wins.
    pub fn find(&self, context: ContextId, key: &str) -> Option<ResourceId> {
        let mut context = self.contexts.get(context as usize)?;
        loop {
            if let Some(id) = context.by_key.get(key) {
                return Some(*id);
            }
            context = self.contexts.get(context.parent? as usize)?;
        }
    }

    /// The resources of a context, in order.
    pub fn all(&self, context: ContextId) -> Vec<ResourceId> {
        let listed = self.contexts.get(context as usize).into_iter().flat_map(|context| &context.resources);
        listed.copied().filter(|id| self.known(*id).is_ok_and(|resource| !resource.retracted)).collect()
    }

    /// The resource at a place in the list of a context, counted with those that were taken out.
    pub fn listed(&self, context: ContextId, at: usize) -> Option<ResourceId> {
        self.contexts.get(context as usize)?.resources.get(at).copied()
    }
}

/// What a type takes besides its name.
const TYPE_BYTES: u64 = 128;
