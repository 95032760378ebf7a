//! A Redis server that keeps its data.

mod attributes;
mod recipes;

use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes::default).recipe("default", recipes::default).recipe("kernel", recipes::kernel)
}
