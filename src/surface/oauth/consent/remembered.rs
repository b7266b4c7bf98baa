//! An authorization request that is the same as one that the person approved before is approved without a page.

use crate::base::id::Id;
use crate::identity::consents::Request;
use crate::identity::redirect;
use crate::model::access::Scope;
use crate::model::error::Result;
use crate::model::grant::within_role;
use crate::model::org::Org;
use crate::surface::browser::destination::answer_url;
use crate::surface::browser::session::SignedIn;
use crate::surface::context::Context;
use crate::surface::oauth::consent::choice::{Gate, open_to};
use crate::surface::oauth::consent::pending::{Asker, Back, Pending};
use crate::surface::web::{AuditEvent, Web};

/// Where the browser goes with a code; `None` when the person has to be asked. What they approved must still be theirs
/// to give, whole: their role, the workspace and its switch for AI clients are asked as they are now.
pub async fn answer(web: &Web, context: &Context, person: &SignedIn, asked: &Pending) -> Result<Option<String>> {
    let Asker::Browser(back) = &asked.asker else { return Ok(None) };
    let scopes = asked.scopes();
    let Some(org) = web.identity.remembered_consent(request(person, asked, back), &scopes).await? else {
        return Ok(None);
    };
    let mut memberships = open_to(web, person, asked).await?.into_iter();
    let Some(membership) = memberships.find(|membership| membership.org.id == org) else { return Ok(None) };
    let allowed = within_role(&scopes, membership.role);
    let blocked = web.identity.is_blocked(&asked.client_id, Some(org)).await?;
    if allowed != scopes || Gate::of(Some(&membership), &allowed, blocked) != Gate::Open {
        return Ok(None);
    }
    let to = go_back(web, person, asked, back, org, scopes).await?;
    let event = AuditEvent::new(context, "oauth.consent", "remembered").by(person.principal()).org(Some(org));
    web.record(event.client(&asked.client_id).target(redirect::shown(&back.redirect_uri))).await?;
    Ok(Some(to))
}

/// Remembers an approval on the page.
pub async fn remember(
    web: &Web,
    person: &SignedIn,
    asked: &Pending,
    back: &Back,
    org: Id<Org>,
    scopes: &[Scope],
) -> Result<()> {
    web.identity.remember_consent(org, request(person, asked, back), scopes).await
}

/// Grants what was asked; the address that takes the code to the client.
pub async fn go_back(
    web: &Web,
    person: &SignedIn,
    asked: &Pending,
    back: &Back,
    org: Id<Org>,
    scopes: Vec<Scope>,
) -> Result<String> {
    let code = web.identity.approve(asked.approval(person, org, scopes)).await?;
    Ok(answer_url(&web.config, &back.redirect_uri, back.state.as_deref(), &[("code", code.expose())]))
}

fn request<'a>(person: &SignedIn, asked: &'a Pending, back: &'a Back) -> Request<'a> {
    Request {
        user: person.user.id,
        client_id: &asked.client_id,
        redirect_uri: &back.redirect_uri,
        resource: &asked.resource,
        addresses: &back.addresses,
    }
}
