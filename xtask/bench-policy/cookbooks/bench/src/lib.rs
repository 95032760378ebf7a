//! What the benchmarks converge: the same work as the floor in `xtask/src/floor.rs`.

use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!()
        .recipe("nothing", || Ok(()))
        .recipe("files", files)
        .recipe("templates", templates)
        .recipe("mix", mix)
}

fn files() -> Result {
    directory("/srv/bench").declare()?;
    for number in 0..node::integer("bench.count")? {
        file(format!("/srv/bench/{number}")).content(content(number)).mode("0644").declare()?;
    }
    Ok(())
}

fn templates() -> Result {
    directory("/srv/bench").declare()?;
    for number in 0..node::integer("bench.count")? {
        template(format!("/srv/bench/{number}"))
            .source("file.txt.j2")
            .mode("0644")
            .variables([("number", number)])
            .declare()?;
    }
    Ok(())
}

fn mix() -> Result {
    directory("/srv/bench").declare()?;
    for number in 0..50 {
        directory(format!("/srv/bench/folder-{number}")).declare()?;
        link(format!("/srv/bench/link-{number}")).to(format!("file-{number}")).declare()?;
        file(format!("/srv/bench/file-{number}")).content(content(number)).mode("0644").declare()?;
    }
    for number in 0..20 {
        let made = format!("/srv/bench/command-{number}");
        execute(format!("touch {made}")).not_if_command(&format!("test -e {made}")).declare()?;
    }
    for name in ["bash", "coreutils", "dpkg", "grep", "tar"] {
        package(name).declare()?;
    }
    for name in ["bench0", "bench1", "bench2"] {
        user(name).manage_home(true).declare()?;
    }
    Ok(())
}

fn content(number: i64) -> String {
    format!("This is file {number} of the benchmark.\n")
}
