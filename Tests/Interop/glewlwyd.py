"""An independent OpenID provider: Debian's Glewlwyd, with a configuration of its own in a folder.

    glewlwyd.py start FOLDER REDIRECT_URI   starts it on loopback; prints {"issuer", "client"}
    glewlwyd.py approve FOLDER URL          signs the person in where the app sent the browser; prints where that leads, as a JSON string
    glewlwyd.py stop FOLDER                 stops it

The provider's pages are programs of the browser's over its API, so the person is played at that API. It ends by itself after ten minutes,
unless it is stopped earlier.
"""

import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from urllib.parse import parse_qs, urlsplit

import requests

SCHEMA = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
CLIENT, PLUGIN = "countersign-app", "oidc"
PERSON, PASSWORD = "dave.poe", "Paper-Clip-42"
SCOPES = ["openid", "profile", "offline_access"]


def configuration(folder, port):
    return f"""
port = {port}
bind_address = "127.0.0.1"
external_url = "http://127.0.0.1:{port}/"
login_url = "login.html"
api_prefix = "api"
log_mode = "console"
log_level = "WARNING"
cookie_secure = 0
session_expiration = 3600
session_key = "GLEWLWYD2_SESSION_ID"
admin_session_authentication = "cookie"
profile_session_authentication = "cookie"
admin_scope = "g_admin"
profile_scope = "g_profile"
user_module_path = "/usr/lib/glewlwyd/user"
client_module_path = "/usr/lib/glewlwyd/client"
user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
plugin_module_path = "/usr/lib/glewlwyd/plugin"
use_secure_connection = false
secure_connection_key_file = "/dev/null"
secure_connection_pem_file = "/dev/null"
secure_connection_ca_file = "/dev/null"
hash_algorithm = "SHA512"
login_api_enabled = true
database = {{ type = "sqlite3"; path = "{folder}/database" }};
"""


def plugin(base, folder):
    subprocess.run(
        ["openssl", "genrsa", "-out", folder / "key.pem", "2048"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    public = subprocess.run(["openssl", "rsa", "-in", folder / "key.pem", "-pubout"], check=True, capture_output=True, text=True)
    return {
        "module": "oidc",
        "name": PLUGIN,
        "display_name": "OpenID Connect",
        "parameters": {
            "iss": f"{base}/api/{PLUGIN}",
            "jwt-type": "rsa",
            "jwt-key-size": "256",
            "key": (folder / "key.pem").read_text(),
            "cert": public.stdout,
            "jwks-show": True,
            "subject-type": "public",
            "access-token-duration": 3600,
            "refresh-token-duration": 86400,
            "code-duration": 600,
            "refresh-token-rolling": True,
            "refresh-token-one-use": "always",
            "name-claim": "mandatory",
            "allowed-scope": SCOPES,
            "auth-type-code-enabled": True,
            "auth-type-refresh-enabled": True,
            "auth-type-device-enabled": True,
            "device-authorization-expiration": 600,
            "device-authorization-interval": 1,
            "pkce-allowed": True,
            "pkce-required": True,
            "pkce-required-public-client": True,
            "oauth-as-iss-id": True,
            "oauth-par-allowed": True,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-par-duration": 90,
            "oauth-dpop-allowed": True,
            "oauth-dpop-iat-duration": 60,
            "oauth-dpop-nonce-counter": 100,
            "introspection-revocation-allowed": True,
            "introspection-revocation-allow-target-client": True,
        },
    }


def accepted(response):
    assert response.ok, f"{response.request.method} {response.url}: {response.status_code} {response.text}"
    return response


def signed_in(base, name, password):
    session = requests.Session()
    accepted(session.post(f"{base}/api/auth/", json={"username": name, "password": password}, timeout=60))
    return session


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder, redirect_uri):
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    (folder / "configuration").write_text(configuration(folder, port))
    with sqlite3.connect(folder / "database") as database:
        database.executescript(SCHEMA.read_text())
    with open(folder / "log", "wb") as log:
        # The process has its own session, so that it continues after this script.
        process = subprocess.Popen(
            ["timeout", "600", "glewlwyd", "-c", folder / "configuration"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    (folder / "process").write_text(str(process.pid))
    (folder / "base").write_text(base)
    for _ in range(600):
        assert process.poll() is None, (folder / "log").read_text()
        try:
            requests.get(f"{base}/config", timeout=60)
            break
        except requests.ConnectionError:
            time.sleep(0.1)
    # The database schema contains this administrator.
    admin = signed_in(base, "admin", "password")
    for scope in SCOPES[1:]:
        accepted(admin.post(f"{base}/api/scope", json={"name": scope, "display_name": scope, "password_required": True}, timeout=60))
    accepted(admin.post(f"{base}/api/mod/plugin", json=plugin(base, folder), timeout=60))
    person = {"username": PERSON, "name": "Dave Poe", "password": PASSWORD, "scope": ["g_profile"] + SCOPES, "enabled": True}
    accepted(admin.post(f"{base}/api/user", json=person, timeout=60))
    client = {
        "client_id": CLIENT,
        "name": "Countersign's app",
        "confidential": False,
        "enabled": True,
        "redirect_uri": [redirect_uri],
        "authorization_type": ["code", "refresh_token", "device_authorization"],
        "token_endpoint_auth_method": ["none"],
        "scope": SCOPES,
    }
    accepted(admin.post(f"{base}/api/client", json=client, timeout=60))
    return {"issuer": f"{base}/api/{PLUGIN}", "client": CLIENT, "name": "Dave Poe"}


def approve(base, url):
    """Signs in, consents, and follows the provider's redirects as far as they stay with it."""
    person = signed_in(base, PERSON, PASSWORD)
    accepted(person.put(f"{base}/api/auth/grant/{CLIENT}", json={"scope": " ".join(SCOPES)}, timeout=60))
    address = url
    for _ in range(5):
        answer = person.get(address, allow_redirects=False, timeout=60)
        address = answer.headers["Location"]
        parts = urlsplit(address)
        if not address.startswith(base):
            return address
        query = parse_qs(parts.query)
        if query.get("prompt") == ["deviceComplete"]:
            return address
        assert "prompt" not in query, address
        # The provider's page would continue at this address.
        address = query["callback_url"][0] + "&g_continue"
    raise AssertionError(f"no end of redirects at {address}")


def stop(folder):
    os.kill(int((folder / "process").read_text()), signal.SIGTERM)
    return {}


def main():
    # A child inherits the signals that its parent blocks, and these signals could not end it.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if command == "start":
        result = start(folder, sys.argv[3])
    elif command == "stop":
        result = stop(folder)
    else:
        result = approve((folder / "base").read_text(), sys.argv[3])
    print(json.dumps(result))


main()
