//! Custom resources: resource types that a cookbook defines with other resources.
//!
//! A struct describes the type: its fields are the properties, its documentation comments the descriptions. Methods are
//! the actions.
//!
//! ```no_run
//! use wrun_sdk::prelude::*;
//!
//! pub fn cookbook() -> Cookbook {
//!     cookbook!().recipe("default", default).resource::<WebSite>()
//! }
//!
//! /// A site that nginx serves.
//! #[derive(Resource)]
//! #[resource(actions(create, remove))]
//! pub struct WebSite {
//!     /// The address that visitors use.
//!     #[property(name)]
//!     domain: String,
//!     /// The folder with the pages.
//!     root: String,
//!     /// The port that nginx listens on.
//!     #[property(default = 80)]
//!     port: u16,
//!     /// The user that owns the folder.
//!     owner: Option<String>,
//! }
//!
//! impl WebSite {
//!     fn create(&self) -> Result {
//!         directory(&self.root).owner(self.owner.as_deref()).recursive(true).declare()?;
//!         template(self.file())
//!             .source("site.j2")
//!             .variables(json!({ "domain": self.domain, "root": self.root, "port": self.port }))
//!             .notifies("reload", "service[nginx]")
//!             .declare()
//!     }
//!
//!     fn remove(&self) -> Result {
//!         file(self.file()).action_delete().notifies("reload", "service[nginx]").declare()
//!     }
//!
//!     fn file(&self) -> String {
//!         format!("/etc/nginx/sites-enabled/{}", self.domain)
//!     }
//! }
//!
//! fn default() -> Result {
//!     service("nginx").action_enable().action_start().declare()?;
//!     web_site("shop.example").root("/srv/shop").port(8080).declare()?;
//!     web_site("old.example").root("/srv/old").action_remove().declare()
//! }
//! ```
//!
//! `#[derive(Resource)]` generates the function `web_site` and its builder, like those of the [built-in
//! types](crate::resources). The builder has a method for each property and action, and the methods of all resources (guards,
//! notifications, retries). The first action is the default one.
//!
//! # Properties
//!
//! The type of a field determines the accepted values: see [`PropertyType`]. A property without a default must be set; one of
//! type `Option` need not be. An invalid declaration is an error with its line: *property `port` of web_site must be a whole
//! number from 0 to 65535, not the string "eighty"*. [`lazy`](crate::builder::lazy) values are computed right before the
//! action.
//!
//! | attribute of a field | meaning |
//! |---|---|
//! | `#[property(name)]` | it is the resource's name unless it is set |
//! | `#[property(default = 80)]` | its value if it is not set. Texts and lists are written plainly: `"x"`, `["a", "b"]` |
//! | `#[property(default)]` | the same with the default of its type: `0`, `""`, `false`, no items |
//! | `#[property(one_of = ["http", "https"])]` | only these values |
//! | `#[property(desired_state = false)]` | it says how to do something, and is not compared with the machine |
//!
//! | attribute of the struct | meaning |
//! |---|---|
//! | `#[resource(actions(create, remove))]` | the methods that are actions |
//! | `#[resource(current = METHOD)]` | the method that returns the current state of the machine |
//! | `#[resource(name = "nginx_site")]` | the type's name; without it `WebSite` is `web_site` |
//! | `#[resource(unified_mode = false)]` | children converge after the action instead of where they are declared |
//!
//! # Actions
//!
//! An action is a method `fn NAME(&self) -> Result` that declares other resources. If one of them changes something, the
//! custom resource has changed, and its notifications are sent. With a second parameter, `action: &Action<Self>`, it can also
//! query the run and report its own changes: see [`Action`].
//!
//! # Current state
//!
//! A type that uses commands should return the current state of the machine. Then a run changes only properties that differ:
//!
//! ```no_run
//! use wrun_sdk::machine;
//! use wrun_sdk::prelude::*;
//!
//! /// The machine's time zone.
//! #[derive(Resource)]
//! #[resource(actions(set), current = find)]
//! pub struct TimeZone {
//!     /// Its name, such as `Europe/Berlin`.
//!     zone: String,
//! }
//!
//! impl TimeZone {
//!     fn find(&self) -> Result<Option<Self>> {
//!         let link = machine::link_target("/etc/localtime")?;
//!         let zone = link.as_deref().and_then(|target| target.strip_prefix("/usr/share/zoneinfo/"));
//!         Ok(zone.map(|zone| Self { zone: zone.to_owned() }))
//!     }
//!
//!     fn set(&self, action: &Action<Self>) -> Result {
//!         action.converge_if_changed(&["zone"], || {
//!             execute("set the time zone").command(format!("timedatectl set-timezone {}", self.zone)).declare()
//!         })?;
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # Types of other cookbooks
//!
//! A cookbook of the same policy can be a dependency in `Cargo.toml`, so that a recipe can call its functions. Use [`custom`]
//! for a type that is known only by name, such as a type of a Ruby cookbook.

mod action;
#[doc(hidden)]
pub mod derive;
mod property_type;
mod serve;

pub use action::Action;
pub use property_type::PropertyType;
pub(crate) use serve::{act, complete, current_value, define, explain};
/// Makes a resource type from a struct. See the [manual](crate::custom).
pub use wrun_sdk_macros::Resource;

use crate::builder::{Builder, IntoProperty, kinds::Anything};
use crate::error::Result;
use derive::{Definition, Properties};
use serde_json::Value;

/// A resource type that a cookbook defines. `#[derive(Resource)]` implements it: see the [manual](crate::custom).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource type",
    note = "write `#[derive(Resource)]` above the struct, and `#[resource(actions(..))]` with the methods that are its actions"
)]
pub trait Resource: Sized + 'static {
    #[doc(hidden)]
    fn definition() -> Definition;

    #[doc(hidden)]
    fn from_properties(properties: &Properties<'_>) -> Result<Self>;

    #[doc(hidden)]
    fn to_values(&self) -> Vec<(&'static str, Value)>;
}

/// Creates a builder for a type that is known only by name, such as a type of a Ruby cookbook.
///
/// ```no_run
/// # use wrun_sdk::prelude::*;
/// # fn recipe() -> Result {
/// custom("tomcat_site", "shop").set("port", 8080).action("install").declare()
/// # }
/// ```
#[track_caller]
pub fn custom(kind: &str, name: impl Into<String>) -> Custom {
    Custom(Builder::new(kind, name))
}

/// A resource of a custom type that is not declared yet.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Custom(Builder);

impl Custom {
    /// Sets a property of any type, which the host checks when the resource is declared.
    pub fn set(mut self, property: &str, value: impl IntoProperty<Anything>) -> Self {
        self.0.set(property, value.into_property());
        self
    }

    /// Adds an action. The first one replaces the default action.
    pub fn action(mut self, action: &str) -> Self {
        self.0.action(action);
        self
    }
}

crate::__common_methods!(Custom);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::json;

    /// A site.
    #[derive(Resource)]
    #[resource(actions(create, r#move), current = find)]
    struct WebSite {
        #[property(name)]
        domain: String,
        root: String,
        #[property(default = 80)]
        port: u16,
        #[property(default = "https", one_of = ["http", "https"])]
        scheme: String,
        #[property(default = ["a", "b"], desired_state = false)]
        aliases: Vec<String>,
        r#type: Option<u8>,
    }

    impl WebSite {
        fn find(&self) -> Result<Option<Self>> {
            Ok(None)
        }

        fn create(&self) -> Result {
            Ok(())
        }

        fn r#move(&self, action: &Action<Self>) -> Result {
            action.converge_by("move it", || Ok(()))
        }
    }

    #[derive(Resource)]
    #[resource(name = "nothing_to_say", actions(run), unified_mode = false)]
    struct Unit;

    impl Unit {
        fn run(&self) -> Result {
            Ok(())
        }
    }

    fn refused(property: &str, value: Value) -> String {
        let definition = WebSite::definition();
        let checked = definition.property_named(property).and_then(|found| found.check("web_site", &value));
        checked.map_or_else(|error| error.message().to_owned(), |()| "it fits".to_owned())
    }

    #[test]
    fn a_struct_is_a_type_with_its_properties_and_actions() {
        let definition = WebSite::definition();
        assert_eq!((definition.name(), definition.unified), ("web_site", true));
        assert_eq!(definition.actions(), ["create", "move"]);
        let required: Vec<_> =
            definition.properties.iter().filter(|one| one.is_required()).map(|one| one.name).collect();
        assert_eq!(required, ["root"]);
        let compared: Vec<_> =
            definition.properties.iter().filter(|one| one.desired_state).map(|one| one.name).collect();
        assert_eq!(compared, ["domain", "root", "port", "scheme", "type"]);
        let unit = Unit::definition();
        assert!(unit.name() == "nothing_to_say" && !unit.unified && unit.properties.is_empty());
    }

    #[test]
    fn values_are_held_against_the_fields_types() {
        let port = "property `port` of web_site must be a whole number from 0 to 65535, not";
        assert_eq!(refused("port", json!("eighty")), format!("{port} the string \"eighty\""));
        assert_eq!(refused("port", json!(70_000)), format!("{port} the number 70000"));
        assert_eq!(refused("port", Value::Null), format!("{port} null"));
        let aliases = "property `aliases.1` of web_site must be a string, not the number 5";
        assert_eq!(refused("aliases", json!(["a", 5])), aliases);
        let scheme = "property `scheme` of web_site must be one of \"http\", \"https\", not \"ftp\"";
        assert_eq!(refused("scheme", json!("ftp")), scheme);
        assert_eq!(refused("type", Value::Null), "it fits");
        assert_eq!(
            refused("type", json!(256)),
            "property `type` of web_site must be a whole number from 0 to 255, not the number 256"
        );
        let unknown = "web_site does not have the property `prot`; it has: domain, root, port, scheme, aliases, type";
        assert_eq!(refused("prot", json!(1)), unknown);
    }

    #[test]
    fn builders_set_what_recipes_say() {
        let (root, aliases): (Option<&str>, _) = (None, vec!["x".to_owned()]);
        let site = web_site("shop").root("/srv").root(root).port(8080).aliases(&aliases).action_move();
        assert_eq!(
            format!("{site:?}"),
            "WebSiteBuilder(web_site[shop]{\"root\": String(\"/srv\"), \"port\": Number(8080), \"aliases\": Array [String(\"x\")]})"
        );
        assert_eq!(
            format!("{:?}", nothing_to_say("x").action_run().action_nothing()),
            "UnitBuilder(nothing_to_say[x]{})"
        );
    }

    #[test]
    fn values_of_a_type_are_told_by_name() {
        let site = WebSite {
            domain: "shop".into(),
            root: "/srv".into(),
            port: 80,
            scheme: "http".into(),
            aliases: vec!["x".into()],
            r#type: None,
        };
        let expect = [
            ("domain", json!("shop")),
            ("root", json!("/srv")),
            ("port", json!(80)),
            ("scheme", json!("http")),
            ("aliases", json!(["x"])),
            ("type", Value::Null),
        ];
        assert_eq!(site.to_values(), expect);
    }
}
