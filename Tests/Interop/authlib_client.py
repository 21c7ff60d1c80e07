"""Gets tokens from an issuer with Authlib and validates the id token by the published keys.

    authlib_client.py ISSUER

The rest comes as JSON on standard input: {"user", "password", "public_client", "service_client", "service_secret"}.
Prints what it saw as one JSON object; any failure is an exception and a non-zero exit.
"""

import json
import sys

import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.core import CodeIDToken

issuer = sys.argv[1]
given = json.load(sys.stdin)

metadata = requests.get(issuer + "/.well-known/openid-configuration", timeout=60).json()
assert metadata["issuer"] == issuer, metadata["issuer"]
keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], timeout=60).json())


def identity(token, client):
    claims = jwt.decode(
        token["id_token"],
        keys,
        claims_cls=CodeIDToken,
        claims_options={
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": client},
            "exp": {"essential": True},
        },
        claims_params={"client_id": client, "access_token": token["access_token"]},
    )
    claims.validate()
    return claims


public = OAuth2Session(
    given["public_client"],
    scope="openid profile email offline_access",
    token_endpoint_auth_method="none",
)
first = public.fetch_token(
    metadata["token_endpoint"], username=given["user"], password=given["password"], grant_type="password"
)
first_claims = identity(first, given["public_client"])
second = public.refresh_token(metadata["token_endpoint"], refresh_token=first["refresh_token"])
second_claims = identity(second, given["public_client"])
assert first_claims["sub"] == second_claims["sub"]

service = {}
for method in ("client_secret_basic", "client_secret_post"):
    session = OAuth2Session(
        given["service_client"], given["service_secret"], scope="messages.read", token_endpoint_auth_method=method
    )
    service[method] = session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    assert jwt.decode(service[method]["access_token"], keys)["cid"] == given["service_client"]

print(
    json.dumps(
        {
            "subject": first_claims["sub"],
            "access_token": second["access_token"],
            "rotated": first["refresh_token"] != second["refresh_token"],
            "service_scopes": service["client_secret_basic"]["scope"],
        }
    )
)
