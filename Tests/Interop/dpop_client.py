"""Gets tokens that are bound to a key, uses them and refreshes them, with proofs made and tokens read by joserfc (RFC 9449).

    dpop_client.py ALGORITHM

The rest comes as JSON on standard input: {"base": where the server listens, "origin": what it is called, "now": its time,
"user", "password", "client"}. Prints what it saw as one JSON object; any failure is an exception and a non-zero exit.
"""

import base64
import hashlib
import json
import sys
import uuid

import requests
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

algorithm = sys.argv[1]
given = json.load(sys.stdin)
curves = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
key = ECKey.generate_key(curves[algorithm]) if algorithm in curves else RSAKey.generate_key(2048)
base = "/oauth2/default/v1"


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def proof(method, path, nonce=None, token=None, **changed):
    claims = {"jti": str(uuid.uuid4()), "htm": method, "htu": given["origin"] + path, "iat": given["now"]}
    if nonce:
        claims["nonce"] = nonce
    if token:
        claims["ath"] = encoded(hashlib.sha256(token.encode()).digest())
    header = {"typ": "dpop+jwt", "alg": algorithm, "jwk": key.as_dict(private=False)}
    return jws.serialize_compact(header, json.dumps({**claims, **changed}), key, algorithms=[algorithm])


def token(form, **members):
    headers = {"DPoP": proof("POST", base + "/token", **members)}
    return requests.post(given["base"] + base + "/token", data={"client_id": given["client"], **form}, headers=headers, timeout=60)


form = {"grant_type": "password", "username": given["user"], "password": given["password"], "scope": "openid profile offline_access"}
asked = token(form)
assert asked.status_code == 400 and asked.json()["error"] == "use_dpop_nonce", asked.text
nonce = asked.headers["DPoP-Nonce"]
granted = token(form, nonce=nonce)
assert granted.status_code == 200, granted.text
tokens = granted.json()
assert tokens["token_type"] == "DPoP", tokens["token_type"]

claims = json.loads(jws.extract_compact(tokens["access_token"].encode()).payload)
assert claims["cnf"] == {"jkt": key.thumbprint()}, claims["cnf"]

path = base + "/userinfo"
access = tokens["access_token"]
headers = {"Authorization": "DPoP " + access, "DPoP": proof("GET", path, token=access)}
person = requests.get(given["base"] + path, headers=headers, timeout=60)
assert person.status_code == 200, person.headers
again = requests.get(given["base"] + path, headers=headers, timeout=60)
downgraded = requests.get(given["base"] + path, headers={"Authorization": "Bearer " + access}, timeout=60)

refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
refreshed = token(refresh, nonce=nonce)
assert refreshed.status_code == 200, refreshed.text

print(
    json.dumps(
        {
            "name": person.json()["name"],
            "replayed": [again.status_code, again.headers["WWW-Authenticate"].split(",")[0]],
            "downgraded": [downgraded.status_code, downgraded.headers["WWW-Authenticate"].split(",")[0]],
            "refreshed": refreshed.json()["token_type"],
        }
    )
)
