"""Verifies an access token, read from standard input, as a resource server with okta-jwt-verifier would.

    okta_verifier.py ISSUER AUDIENCE

The issuer must be https; REQUESTS_CA_BUNDLE names the authority to trust. Prints `ok`, or raises.
"""

import sys

from okta_jwt_verifier import AccessTokenVerifier

issuer, audience = sys.argv[1:3]
AccessTokenVerifier(issuer=issuer, audience=audience).verify_sync(sys.stdin.read().strip())
print("ok")
