//! Facts of this machine, and of roots made of files.

#[cfg(test)]
mod machine;
#[cfg(test)]
mod platforms;
#[cfg(test)]
mod roots;
#[cfg(test)]
mod support;
