"""A site behind Apache's mod_auth_openidc, and a person who uses it.

    apache_relying_party.py ISSUER

The rest comes as JSON on standard input: {"user", "password", "client", "secret", "port"}. Apache is started on that port of loopback with a configuration of its
own in a folder that is removed at the end. Prints what was seen as one JSON object; any failure is an exception and a non-zero exit.
"""

import json
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from urllib.parse import quote, urlencode

import requests

from hosted_pages import Browser

MODULES = ["mpm_event", "authz_core", "authz_user", "authn_core", "dir", "mime", "headers", "auth_openidc"]
LIBRARY = "/usr/lib/apache2/modules"


def configuration(folder, port, issuer, given):
    loads = "\n".join(f"LoadModule {name}_module {LIBRARY}/mod_{name}.so" for name in MODULES)
    # If root starts Apache, Apache runs as another user.
    user = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
    return f"""
ServerRoot "{folder}"
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
DefaultRuntimeDir "{folder}"
Mutex file:{folder}
ErrorLog "{folder}/log"
LogLevel warn
StartServers 1
ThreadsPerChild 8
MaxRequestWorkers 8
ServerLimit 1
{loads}
{user}
TypesConfig /dev/null
DocumentRoot "{folder}/site"
DirectoryIndex index.html

OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID {given["client"]}
OIDCClientSecret {given["secret"]}
OIDCRedirectURI http://127.0.0.1:{port}/callback
OIDCDefaultLoggedOutURL http://127.0.0.1:{port}/
OIDCCryptoPassphrase {secrets.token_hex(16)}
OIDCScope "openid profile email offline_access"
OIDCPKCEMethod S256
OIDCRemoteUserClaim email
OIDCInfoHook iat access_token id_token userinfo refresh_token session
OIDCCacheType file
OIDCCacheDir {folder}/cache

<Directory "{folder}/site">
    Require all granted
</Directory>
<LocationMatch "^/(private|callback)">
    AuthType openid-connect
    Require valid-user
    Header always set X-Person "expr=%{{REMOTE_USER}}"
</LocationMatch>
"""


def main():
    # A child inherits the signals that its parent blocks, and these signals could not end it.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    issuer = sys.argv[1]
    given = json.load(sys.stdin)
    with tempfile.TemporaryDirectory(prefix="countersign-apache-") as name:
        folder = pathlib.Path(name)
        for part in ("site/private", "cache"):
            (folder / part).mkdir(parents=True)
        (folder / "site/index.html").write_text("Everybody sees this.")
        (folder / "site/private/index.html").write_text("Only who signed in sees this.")
        port = given["port"]
        (folder / "httpd.conf").write_text(configuration(folder, port, issuer, given))
        if os.geteuid() == 0:
            for part in (folder, folder / "cache"):
                shutil.chown(part, "www-data")
        apache = subprocess.Popen(
            ["/usr/sbin/apache2", "-f", folder / "httpd.conf", "-DFOREGROUND"], stdin=subprocess.DEVNULL, stdout=sys.stderr
        )
        try:
            wait_for(apache, f"http://127.0.0.1:{port}/")
            print(json.dumps(use(f"http://127.0.0.1:{port}", issuer, given)))
        except BaseException:
            print((folder / "log").read_text(), file=sys.stderr)
            raise
        finally:
            apache.terminate()
            try:
                apache.wait(30)
            except subprocess.TimeoutExpired:
                apache.kill()


def wait_for(apache, address):
    for _ in range(600):
        assert apache.poll() is None, "Apache ended"
        try:
            requests.get(address, timeout=60)
            return
        except requests.ConnectionError:
            time.sleep(0.1)
    raise AssertionError("Apache does not answer")


def use(base, issuer, given):
    assert requests.get(base + "/private/", allow_redirects=False, timeout=60).status_code == 302
    browser = Browser(given["user"], given["password"])
    page = browser.open(base + "/private/")
    assert (page.status_code, page.text) == (200, "Only who signed in sees this."), page.text
    assert browser.asked == 1, browser.visited
    assert page.headers["X-Person"] == given["user"], page.headers

    info = browser.get(base + "/callback?info=json", timeout=60).json()
    assert info["userinfo"]["sub"] == info["id_token"]["sub"], info
    # This request makes the module use its refresh token.
    query = urlencode({"refresh": base + "/private/", "access_token": info["access_token"]})
    refreshed = browser.get(base + "/callback?" + query, timeout=60)
    assert refreshed.text == "Only who signed in sees this.", refreshed.url
    later = browser.get(base + "/callback?info=json", timeout=60).json()
    assert later["access_token"] != info["access_token"]
    assert later["refresh_token"] != info["refresh_token"]

    seen = {"name": info["userinfo"]["name"], "amr": info["id_token"]["amr"]}
    landed = browser.open(base + "/callback?logout=" + quote(base + "/", safe=""))
    assert landed.text == "Everybody sees this.", landed.url
    browser.open(base + "/private/")
    # The sign-out ended the session of the site and that of the server, so the user must enter the password again.
    assert browser.asked == 2, browser.visited
    return seen


main()
