//! The file family on real file systems: every action, denied beside happy, and the deputies.

#[cfg(test)]
mod access_lists;
#[cfg(test)]
mod cookbook_sources;
#[cfg(test)]
mod directory;
#[cfg(test)]
mod file;
#[cfg(test)]
mod link;
#[cfg(test)]
mod probes;
#[cfg(test)]
mod races;
#[cfg(test)]
mod remote_directory;
#[cfg(test)]
mod remote_file;
#[cfg(test)]
mod server;
#[cfg(test)]
mod support;
#[cfg(test)]
mod unseen;
#[cfg(test)]
mod verification;
