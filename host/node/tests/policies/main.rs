//! The node over the policies of a run: what passes from one to the next, what is hidden, what is saved and explained.

#![cfg(test)]

mod explanations;
mod hidden_attributes;
mod passing;
mod saved_node;
mod support;
