//! What several guides say in the same words: steps, and what mends what goes wrong.

use super::guide::{Format, Piece, Step, Trouble};
use super::pieces as make;
use super::place::Place;

/// A step that is only said.
pub(super) const fn say(text: &'static str, then: &'static str) -> Step {
    Step { text, piece: None, link: None, then }
}

/// A step with something to copy.
pub(super) const fn copy(
    text: &'static str,
    file: &'static str,
    format: Format,
    make: fn(&Place) -> String,
    then: &'static str,
) -> Step {
    Step { text, piece: Some(Piece { file, format, make }), link: None, then }
}

/// As [`copy`], with a link that does the same.
pub(super) const fn click(
    text: &'static str,
    file: &'static str,
    format: Format,
    make: fn(&Place) -> String,
    link: (&'static str, fn(&Place) -> String),
) -> Step {
    Step { text, piece: Some(Piece { file, format, make }), link: Some(link), then: "" }
}

pub(super) const fn trouble(symptom: &'static str, mend: &'static str) -> Trouble {
    Trouble { symptom, mend }
}

pub(super) const APPROVE: Step = say(
    "A page of Dragoman opens in your browser: sign in as you do here, choose the workspace, and choose Approve.",
    "The browser says that you are connected.",
);
pub(super) const ASK: Step = say("Ask: What data do I have in Dragoman?", "It lists your published datasets by name.");
pub(super) const MAKE_TOKEN: Step = say(
    "As an admin of the workspace, make a connectivity token, beside this guide in the console or at {clients}, and \
     keep its secret: it is shown once. Give each client a token of its own, so that each can be ended alone.",
    "A token that begins with dgmcp_ is on your screen.",
);
/// Commands read it, so that it is in no file, no history and no list of processes.
pub(super) const EXPORT_TOKEN: Step = copy(
    "In a terminal, put the token into a variable. The command waits for it and does not show it.",
    "",
    Format::Sh,
    make::read_token,
    "",
);

pub(super) const NOTHING_PUBLISHED: Trouble = trouble(
    "It says that there is no data.",
    "Clients see published datasets alone: publish one in the console. A viewer cannot run SQL or ask questions.",
);
pub(super) const SIGN_IN_AGAIN: Trouble = trouble(
    "It worked, and now it says that authorization is needed.",
    "The connection was ended, here or by an admin, or was not used for 30 days. Sign in from the client again.",
);
pub(super) const OFF: Trouble = trouble(
    "It says that the workspace does not accept AI clients (503 service_unavailable).",
    "The switch for AI clients is off. An admin turns it on, beside this guide in the console or in the settings.",
);
pub(super) const CLOUD: Trouble = trouble(
    "It cannot connect to the server.",
    "It asks from its maker's cloud: the address must be public, https on port 443, with a certificate that browsers \
     accept, and the firewall or the service before yours must not turn away programs (“Block AI bots”).",
);
pub(super) const BAD_TOKEN: Trouble = trouble(
    "401 auth_invalid or auth_revoked.",
    "The token is not whole, was revoked, or belongs to another workspace. It has 47 characters: dgmcp_, eight, _, and \
     thirty-two. Make a new one if in doubt.",
);
pub(super) const NO_COMMAND: Trouble = trouble(
    "The client says that the command dragoman was not found.",
    "Write the whole path of the program instead of dragoman: the client does not know your shell's PATH.",
);
pub(super) const SCOPE: Trouble = trouble(
    "403 scope_denied.",
    "The token was made without that right. Its rights cannot be changed: make another (ext:datasets, ext:schema, \
     ext:search, ext:sql) and revoke this one.",
);
