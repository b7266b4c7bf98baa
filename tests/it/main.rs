//! One binary for every test that needs more than one module.

mod oauth;
mod site;
