"""Clients in Python that others wrote: strict.py <mcp | fastmcp | authlib> <issuer> <folder for pictures>, with EMAIL and
PASSWORD in the environment. Prints one JSON object; ends with an error when anything is not as it should be."""

import asyncio
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

HERE = Path(__file__).parent
ANSWER = (
    "SELECT a.name, round(avg(f.dep_delay), 2) AS delay FROM flights f JOIN airlines a USING (carrier) "
    "GROUP BY ALL ORDER BY delay DESC LIMIT 1"
)
flavour, issuer, pictures = sys.argv[1:4]
resource = f"{issuer}/mcp"
scope = "data_agent:read data_agent:write"


def person(url):
    """A person at a browser: logs in and approves."""
    subprocess.run(["node", "approve.mjs", url, pictures], cwd=HERE, check=True, timeout=120)


class Callback:
    """The loopback address that a desktop client listens on."""

    def __init__(self):
        arrived = self.arrived = threading.Event()
        callback = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"You can close this window.")
                if urlparse(self.path).path == "/callback":
                    callback.url = f"{callback.base}{self.path}"
                    arrived.set()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def redirect_uri(self):
        return f"{self.base}/callback"

    def answer(self):
        assert self.arrived.wait(60), "the browser did not come back"
        return {name: values[0] for name, values in parse_qs(urlparse(self.url).query).items()}


async def with_mcp():
    import httpx2
    from mcp import Client
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import OAuthClientMetadata

    callback = Callback()
    kept = {}

    class Storage:
        async def get_tokens(self):
            return kept.get("tokens")

        async def set_tokens(self, tokens):
            kept["tokens"] = tokens

        async def get_client_info(self):
            return kept.get("client")

        async def set_client_info(self, client):
            kept["client"] = client

    async def come_back():
        answer = await asyncio.to_thread(callback.answer)
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))

    provider = OAuthClientProvider(
        server_url=resource,
        client_metadata=OAuthClientMetadata(
            client_name="Strict client (mcp)", redirect_uris=[callback.redirect_uri], token_endpoint_auth_method="none",
        ),
        storage=Storage(),
        redirect_handler=lambda url: asyncio.to_thread(person, url),
        callback_handler=come_back,
    )
    async with httpx2.AsyncClient(auth=provider, timeout=60, follow_redirects=True) as http:
        async with Client(streamable_http_client(resource, http_client=http)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("dragoman_sql", {"sql": ANSWER})
    return {"tools": tools, "rows": result.structured_content["rows"], "scope": kept["tokens"].scope}


async def with_fastmcp():
    from fastmcp import Client
    from fastmcp.client.auth import OAuth

    class Browser(OAuth):
        async def redirect_handler(self, authorization_url):
            self.browser = asyncio.create_task(asyncio.to_thread(person, authorization_url))

    oauth = Browser(mcp_url=resource, client_name="Strict client (fastmcp)", scopes=scope)
    seen = {}
    # One log-in serves both eras. Left to itself the client chooses the newer.
    for mode in ["auto", "legacy"]:
        async with Client(resource, auth=oauth, mode=mode) as client:
            tools = [tool.name for tool in await client.list_tools()]
            result = await client.call_tool("dragoman_sql", {"sql": ANSWER})
            catalogue = json.loads((await client.read_resource("dragoman://datasets"))[0].text)
            prompt = await client.get_prompt("connect_client", {"platform": "chatgpt"})
            platforms = await client.complete(
                {"type": "ref/prompt", "name": "connect_client"}, {"name": "platform", "value": "chat"})
            seen[mode] = {
                "version": client.protocol_version, "tools": tools, "rows": result.structured_content["rows"],
                "resources": len(await client.list_resources()), "datasets": catalogue["count"],
                "templates": len(await client.list_resource_templates()) > 0,
                "prompts": [prompt.name for prompt in await client.list_prompts()],
                "prompt": resource in prompt.messages[0].content.text, "platforms": platforms.values,
            }
    await oauth.browser
    return seen


def with_authlib():
    import os

    import httpx
    from authlib.integrations.httpx_client import OAuth2Client
    from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

    # Authlib refuses plain http by itself; this issuer is on loopback.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    callback = Callback()
    server = httpx.get(f"{issuer}/.well-known/oauth-authorization-server").json()
    AuthorizationServerMetadata(server).validate_code_challenge_methods_supported()
    registered = httpx.post(server["registration_endpoint"], json={
        "client_name": "Strict client (authlib)", "redirect_uris": [callback.redirect_uri],
        "token_endpoint_auth_method": "none",
    })
    assert registered.status_code == 201, registered.text
    session = OAuth2Client(
        registered.json()["client_id"], token_endpoint_auth_method="none", scope=scope,
        redirect_uri=callback.redirect_uri, code_challenge_method="S256",
    )
    verifier = "a-verifier-of-this-run-which-is-long-enough-0123456789"
    url, state = session.create_authorization_url(
        server["authorization_endpoint"], code_verifier=verifier, resource=resource)
    person(url)
    answer = callback.answer()
    assert answer["iss"] == server["issuer"] and answer["state"] == state, answer
    session.fetch_token(server["token_endpoint"], authorization_response=callback.url, state=state,
                        code_verifier=verifier, resource=resource)
    first = session.token["refresh_token"]
    health = session.get(f"{issuer}/api/v1/ext/health").status_code
    session.refresh_token(server["token_endpoint"], refresh_token=first)
    rotated = session.token["refresh_token"] != first
    revoked = session.revoke_token(server["revocation_endpoint"], token=session.token["refresh_token"],
                                   token_type_hint="refresh_token")
    after = httpx.get(f"{issuer}/api/v1/ext/health",
                      headers={"Authorization": f"Bearer {session.token['access_token']}"})
    return {"health": health, "rotated": rotated, "revoked": revoked.status_code, "after_revocation": after.status_code}


flows = {"mcp": with_mcp, "fastmcp": with_fastmcp, "authlib": with_authlib}
result = flows[flavour]()
print(json.dumps(asyncio.run(result) if asyncio.iscoroutine(result) else result))
