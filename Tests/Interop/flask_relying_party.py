"""A site on Flask that signs people in with Authlib's OpenID Connect client, and a person who uses it.

    flask_relying_party.py ISSUER

The rest comes as JSON on standard input: {"user", "password", "client", "secret", "port"}. The site listens on that port of loopback. Prints what was seen as one
JSON object; any failure is an exception and a non-zero exit.
"""

import json
import logging
import secrets
import sys
import threading
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, redirect, request, session, url_for
from werkzeug.serving import make_server

from hosted_pages import Browser

issuer = sys.argv[1]
given = json.load(sys.stdin)

logging.getLogger("werkzeug").setLevel(logging.ERROR)
site = Flask("relying party")
site.secret_key = secrets.token_bytes(32)
# The name must differ from those of the server's cookies, because browsers do not separate cookies by port.
site.config["SESSION_COOKIE_NAME"] = "site"
provider = OAuth(site).register(
    "provider",
    server_metadata_url=issuer + "/.well-known/openid-configuration",
    client_id=given["client"],
    client_secret=given["secret"],
    client_kwargs={"scope": "openid profile email offline_access", "code_challenge_method": "S256"},
)
tokens = {}


@site.get("/login")
def login():
    wanted = {name: request.args[name] for name in ("prompt", "max_age", "response_mode") if name in request.args}
    return provider.authorize_redirect(url_for("callback", _external=True), **wanted)


@site.route("/callback", methods=["GET", "POST"])
def callback():
    # Authlib checks state, nonce, issuer, audience, signature, at_hash and times here.
    token = provider.authorize_access_token()
    tokens.update(token)
    session["claims"] = {name: token["userinfo"][name] for name in ("sub", "amr", "auth_time", "nonce")}
    return redirect("/")


@site.get("/")
def home():
    if "claims" not in session:
        return jsonify({})
    userinfo = provider.userinfo(token=tokens)
    return jsonify({"claims": session["claims"], "userinfo": userinfo})


@site.get("/logout")
def logout():
    session.clear()
    metadata = provider.load_server_metadata()
    parameters = {
        "id_token_hint": tokens["id_token"],
        "post_logout_redirect_uri": url_for("home", _external=True),
        "state": "signed-out",
    }
    return redirect(metadata["end_session_endpoint"] + "?" + urlencode(parameters))


server = make_server("127.0.0.1", given["port"], site, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.port}"

browser = Browser(given["user"], given["password"])
first = browser.open(base + "/login").json()
assert browser.asked == 1, browser.visited
assert first["userinfo"]["sub"] == first["claims"]["sub"], first

# With the server's session, the second sign-in needs no password. `prompt=login` requires it again.
again = browser.open(base + "/login?prompt=none").json()
assert browser.asked == 1, browser.visited
assert again["claims"]["sub"] == first["claims"]["sub"]
assert again["claims"]["auth_time"] == first["claims"]["auth_time"]
browser.open(base + "/login?prompt=login")
assert browser.asked == 2, browser.visited
posted = browser.open(base + "/login?response_mode=form_post").json()
assert browser.asked == 2, browser.visited
assert posted["claims"]["sub"] == first["claims"]["sub"]
assert posted["claims"]["nonce"] != first["claims"]["nonce"]

with site.test_request_context():
    refreshed = provider.fetch_access_token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
assert refreshed["refresh_token"] != tokens["refresh_token"]
renewed = provider.userinfo(token=refreshed)
assert renewed["sub"] == first["claims"]["sub"]

seen = {"name": first["userinfo"]["name"], "amr": first["claims"]["amr"], "asked": browser.asked}
landed = browser.open(base + "/logout")
assert landed.url == base + "/?state=signed-out", landed.url
assert landed.json() == {}, landed.text
# The sign-out also ended the server's session.
silent = browser.get(base + "/login?prompt=none", timeout=60)
assert "error=login_required" in silent.url, silent.url

server.shutdown()
print(json.dumps(seen))
