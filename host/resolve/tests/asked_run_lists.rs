//! Run lists that are asked for: which policy each is for, and what is wrong with those that are for none.

#![cfg(test)]

use node::run_list::RunList;
use resolve::asked_run_lists::AskedRunLists;

fn parse(overriding: &[&str], named: &[&str], policies: &[&str]) -> Result<AskedRunLists, String> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    AskedRunLists::parse(&owned(overriding), &owned(named), &owned(policies)).map_err(|error| error.to_string())
}

#[test]
fn a_list_is_for_the_policy_that_it_names_or_for_the_only_one() {
    let list = |items: &[&str]| RunList::parse(items).unwrap();
    let lists = parse(&["recipe[a], recipe[b]"], &["small"], &["web"]).unwrap();
    assert_eq!(lists.overriding("web"), Some(&list(&["recipe[a]", "recipe[b]"])));
    assert_eq!((lists.named("web"), lists.named("db")), (Some("small"), None));
    let lists = parse(&["db=recipe[a]"], &["web=small"], &["web", "db"]).unwrap();
    assert_eq!((lists.overriding("web"), lists.overriding("db")), (None, Some(&list(&["recipe[a]"]))));
    assert_eq!((lists.named("web"), lists.named("db")), (Some("small"), None));
    assert_eq!(
        parse(&["web="], &[], &["web"]).unwrap().overriding("web"),
        Some(&RunList::default()),
        "an empty list counts"
    );
}

#[test]
fn a_list_for_no_policy_is_an_error_that_says_what_to_write() {
    let refused = |overriding: &[&str], named: &[&str]| parse(overriding, named, &["web", "db"]).unwrap_err();
    assert_eq!(refused(&["mail=a"], &[]), "--override-runlist mail=a: there is no policy mail in this run (web, db)");
    let which = "--named-run-list small: say for which of the policies, as in --named-run-list POLICY=small";
    assert_eq!(refused(&[], &["small"]), which);
    assert_eq!(refused(&["web=recipe["], &[]), "--override-runlist web=recipe[");
}
