#!/usr/bin/env python3
"""Writes the keyed archives of the migration tests as Swift files, one for each kind of archive.

The archives are built from the documented formats of NSKeyedArchiver and of the SDKs (Documentation/Protocol/Client.md, section 19.2), with
Python's plistlib. All values are invented. Run it in this folder, without arguments, and format the result with `swift format`.
"""

import base64
import json
import plistlib
import textwrap

UID = plistlib.UID
ISSUER = "https://id.example.com/oauth2/default"
CLIENT = "0oa1Abcdefghijklmnop"
REDIRECT = "com.example.app:/callback"
# 2027-01-15 09:00:00 UTC, an hour after the tests' time, in seconds since 2001.
EXPIRY = 821_696_400.5


def id_token(issuer=ISSUER, client=CLIENT, subject="user-1", **more):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")

    claims = {"iss": issuer, "sub": subject, "aud": client, "iat": 1_800_000_000, "exp": 1_800_003_600, **more}
    return f"{part({'alg': 'RS256', 'kid': 'key-1'})}.{part(claims)}.c2lnbmF0dXJl"


class Archive:
    """The list of objects of an archive. Equal strings and classes are stored once, as NSKeyedArchiver does."""

    def __init__(self):
        # The root comes first, after the archived nil.
        self.objects = ["$null", {}]
        self.known = {}

    def string(self, text):
        if text is None:
            return UID(0)
        if ("string", text) not in self.known:
            self.objects.append(text)
            self.known["string", text] = UID(len(self.objects) - 1)
        return self.known["string", text]

    def cls(self, name, *superclasses):
        if ("class", name) not in self.known:
            self.objects.append({"$classname": name, "$classes": [name, *superclasses, "NSObject"]})
            self.known["class", name] = UID(len(self.objects) - 1)
        return self.known["class", name]

    def add(self, value, name, *superclasses):
        """Adds an object. The class comes after the object, as in real archives."""
        self.objects.append(value)
        reference = UID(len(self.objects) - 1)
        value["$class"] = self.cls(name, *superclasses)
        return reference

    def url(self, text, base=UID(0)):
        if text is None:
            return UID(0)
        return self.add({"NS.base": base, "NS.relative": self.string(text)}, "NSURL")

    def date(self, seconds):
        return UID(0) if seconds is None else self.add({"NS.time": float(seconds)}, "NSDate")

    def value(self, value):
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, dict):
            return self.dictionary(value)
        if isinstance(value, list):
            return self.add({"NS.objects": [self.value(element) for element in value]}, "NSArray")
        self.objects.append(value)
        return UID(len(self.objects) - 1)

    def body(self, value):
        return {"NS.keys": [self.string(key) for key in value], "NS.objects": [self.value(element) for element in value.values()]}

    def dictionary(self, value, name="NSDictionary"):
        if value is None:
            return UID(0)
        superclasses = ["NSDictionary"] if name == "NSMutableDictionary" else []
        return self.add(self.body(value), name, *superclasses)

    def data(self, value, name):
        self.objects[1] = {**value, "$class": self.cls(name)}
        return write(self.objects)


def write(objects, root=UID(1), **more):
    archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": objects}
    return plistlib.dumps({**archive, **more}, fmt=plistlib.FMT_BINARY, sort_keys=False)


# MARK: AppAuth and okta-oidc-ios

DISCOVERY = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/v1/authorize",
    "token_endpoint": f"{ISSUER}/v1/token",
    "jwks_uri": f"{ISSUER}/v1/keys",
    "response_types_supported": ["code", "code id_token"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["RS256"],
    "claims_parameter_supported": False,
}


def configuration(a, prefix, issuer, discovery):
    document = UID(0)
    if discovery is not None:
        # The document archives itself like a dictionary; since AppAuth 1.6.0 also under a key of its own.
        body = {"discoveryDictionary": a.dictionary(discovery)} if discovery.get("keyed") else a.body(discovery)
        document = a.add(body, f"{prefix}ServiceDiscovery")
    return a.add(
        {
            "authorizationEndpoint": a.url(f"{ISSUER}/v1/authorize"),
            "tokenEndpoint": a.url("v1/token", base=a.url(f"{ISSUER}/")),
            "issuer": a.url(issuer),
            "registrationEndpoint": UID(0),
            "endSessionEndpoint": UID(0),
            "discoveryDocument": document,
        },
        f"{prefix}ServiceConfiguration",
    )


def state(
    a, prefix="OID", issuer=ISSUER, discovery=None, client=CLIENT, token=True, access="access-1", refresh="refresh-1",
    living=None, identity=id_token(), scope="openid profile offline_access", expiry=EXPIRY, secret=None, parameters=None, error=False,
    needs_refresh=False, authorization=True, token_type="Bearer", redirect=REDIRECT,
):
    settings = configuration(a, prefix, issuer, discovery)
    request = {
        "client_id": a.string(client), "client_secret": a.string(secret), "scope": a.string(scope), "redirect_uri": a.url(redirect),
        "response_type": a.string("code"), "state": a.string("state-1"), "nonce": a.string("nonce-1"),
        "code_verifier": a.string("verifier-1"), "code_challenge": a.string("challenge-1"),
        "code_challenge_method": a.string("S256"), "additionalParameters": a.dictionary({}), "configuration": settings,
    }
    tokens = {
        "access_token": a.string(access), "expires_in": a.date(expiry), "token_type": a.string(token_type),
        "id_token": a.string(identity), "scope": a.string(scope),
    }
    first = {
        "request": a.add(request, f"{prefix}AuthorizationRequest"), "code": a.string("code-1"), "state": a.string("state-1"),
        "additionalParameters": a.dictionary({}),
    }
    members = {"scope": a.string(scope), "refreshToken": a.string(living or refresh), "needsTokenRefresh": needs_refresh}
    members["lastAuthorizationResponse"] = UID(0)
    if authorization:
        members["lastAuthorizationResponse"] = a.add({**first, **({} if token else tokens)}, f"{prefix}AuthorizationResponse")
    members["lastTokenResponse"] = UID(0)
    if token:
        exchange = {
            "grant_type": a.string("authorization_code"), "code": a.string("code-1"), "client_id": a.string(client),
            "client_secret": a.string(secret), "redirect_uri": a.url(redirect), "scope": UID(0), "refresh_token": UID(0),
            "code_verifier": a.string("verifier-1"), "configuration": settings, "additionalParameters": a.dictionary({}),
        }
        last = {
            **tokens, "request": a.add(exchange, f"{prefix}TokenRequest"), "refresh_token": a.string(refresh),
            "additionalParameters": a.dictionary(parameters or {}, "NSMutableDictionary"),
        }
        members["lastTokenResponse"] = a.add(last, f"{prefix}TokenResponse")
    if error:
        members["authorizationError"] = a.add(
            {"NSCode": 2, "NSDomain": a.string("org.openid.appauth.oauth_token"), "NSUserInfo": UID(0)}, "NSError")
    return members, f"{prefix}AuthState"


def app_auth(root=None, **more):
    a = Archive()
    members, name = state(a, **more)
    if root:
        return a.data({"user": a.string("Jane"), "auth": a.add(members, name)}, root)
    return a.data(members, name)


def okta_oidc(name="OktaOidc.OktaOidcStateManager", config=None, accessibility="aku", **more):
    a = Archive()
    members = {"accessibility": a.string(accessibility), "authState": a.add(*state(a, **more))}
    if config is not None:
        members |= {"config": a.dictionary(config), "validationOptions": UID(0)}
    return a.data(members, name)


# MARK: Auth0.swift


def auth0(access="access-1", refresh="refresh-1", token_type="Bearer", identity=None, scope="openid offline_access", expiry=EXPIRY, **more):
    a = Archive()
    identity = id_token("https://example.eu.auth0.com/", "auth0-client") if identity is None else identity
    members = {
        "accessToken": a.string(access), "tokenType": a.string(token_type), "idToken": a.string(identity or None),
        "refreshToken": a.string(refresh), "scope": a.string(scope), "expiresIn": a.date(expiry), "recoveryCode": UID(0),
    }
    return a.data(members | more, "A0Credentials")


PARAMETERS = {"device_secret": "device-1", "custom": {"list": [1, True, "x", 2.5], "empty": {}}, "round": 2.0, "access_token": "planted"}

OKTA_OIDC = {
    "current": okta_oidc(prefix="OKT", discovery=DISCOVERY),
    "early": okta_oidc(prefix="OID", discovery=DISCOVERY),
    "refreshed": okta_oidc(prefix="OKT", refresh=None, living="refresh-2", identity=None, access="access-2", expiry=EXPIRY + 60),
    "later": okta_oidc(prefix="OKT", refresh="refresh-9", access="access-9", expiry=EXPIRY + 7200),
    "otherUser": okta_oidc(prefix="OKT", refresh="refresh-8", access="access-8", identity=id_token(subject="user-2")),
    "namedClient": okta_oidc(prefix="OKT", client="my-app", identity=id_token(client="my-app")),
    "oktaAuth": okta_oidc(
        "OktaAuth.OktaTokenManager", prefix="OID", issuer=None, identity=None, redirect=None, client=None,
        config={"issuer": ISSUER, "clientId": CLIENT, "redirectUri": REDIRECT, "logoutRedirectUri": "com.example.app:/logout"}),
}

APP_AUTH = {
    "complete": app_auth(parameters=PARAMETERS, secret="client-secret-1"),
    "refreshed": app_auth(refresh="refresh-old", living="refresh-2", identity=None),
    "inApp": app_auth("App.Account"),
    "implicit": app_auth(token=False, refresh=None),
    "tokenOnly": app_auth(authorization=False),
    "issuerInIDToken": app_auth(issuer=None),
    "issuerInDiscovery": app_auth(issuer=None, identity=None, discovery=DISCOVERY),
    "issuerInKeyedDiscovery": app_auth(issuer=None, identity=None, discovery={"keyed": True, "issuer": ISSUER}),
    "issuerWithSlash": app_auth(issuer=ISSUER + "/"),
    "noIssuer": app_auth(issuer=None, identity=None),
    "needsRefresh": app_auth(needs_refresh=True),
    "noExpiry": app_auth(expiry=None),
    "noAccessToken": app_auth(access=None),
}

REFUSED = {
    "failed": app_auth(error=True),
    "otherIssuer": app_auth(identity=id_token("https://other.example.com")),
    "otherClient": app_auth(identity=id_token(client="other-client")),
    "insecure": app_auth(issuer="http://id.example.com", identity=id_token("http://id.example.com")),
    "malformedIDToken": app_auth(identity="not.a.jwt"),
    "malformedAccessToken": app_auth(access="access 1\r\nX-Planted: 1"),
    "expired": app_auth(refresh=None, expiry=EXPIRY - 7200),
    "noTokens": app_auth(refresh=None, access=None),
    "noResponse": app_auth(token=False, authorization=False),
    "noClient": app_auth(client=None),
    "bound": app_auth(token_type="DPoP"),
}

AUTH0 = {
    "complete": auth0(),
    "noIDToken": auth0(identity="", scope=None),
    "empty": auth0(access="", token_type=""),
    "early": auth0(access=None, token_type=None, scope=None),
    "bound": auth0(token_type="DPoP"),
    "slashless": auth0(identity=id_token("https://example.eu.auth0.com", "auth0-client")),
    "otherTenant": auth0(identity=id_token("https://other.eu.auth0.com/", "auth0-client")),
}


# MARK: Hostile archives


def hostile():
    def cls(name):
        return {"$classname": name, "$classes": [name, "NSObject"]}

    def with_date(date, *more):
        credentials = {"$class": UID(2), "accessToken": UID(3), "refreshToken": UID(4), "expiresIn": UID(5)}
        return write(["$null", credentials, cls("A0Credentials"), "access-1", "refresh-1", date, cls("NSDate"), *more])

    def with_member(value, *more):
        credentials = {"$class": UID(2), "accessToken": value, "refreshToken": UID(0)}
        return write(["$null", credentials, cls("A0Credentials"), *more])

    def with_parameters(parameters, *more):
        # An AppAuth state whose additional parameters are object 9.
        client = {"$class": UID(7), "client_id": UID(8)}
        response = {"$class": UID(4), "access_token": UID(5), "request": UID(6), "additionalParameters": UID(9)}
        root = {"$class": UID(2), "lastTokenResponse": UID(3), "refreshToken": UID(5)}
        objects = [root, cls("OIDAuthState"), response, cls("OIDTokenResponse"), "token-1", client, cls("OIDTokenRequest"), CLIENT]
        return write(["$null", *objects, parameters, cls("NSDictionary"), cls("NSArray"), *more])

    def xml(value):
        if isinstance(value, UID):
            return {"CF$UID": value.data}
        if isinstance(value, dict):
            return {key: xml(element) for key, element in value.items()}
        return [xml(element) for element in value] if isinstance(value, list) else value

    date = {"$class": UID(6), "NS.time": 700_000_000.5}
    credentials = {"$class": UID(2), "accessToken": UID(3), "refreshToken": UID(3)}
    plain = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
             "$objects": ["$null", credentials, cls("A0Credentials"), "access-1"]}
    good = with_date(date)
    # Readable, but deeper or with more elements than a response has.
    deep = [{"$class": UID(11), "NS.objects": [UID(12 + n)]} for n in range(1, 100)] + ["end"]
    doubling = [{"$class": UID(11), "NS.objects": [UID(12 + n), UID(12 + n)]} for n in range(1, 13)] + ["end"]
    members = {
        "cycleOfMember": with_member(UID(1)),
        "cycleOfRoot": write(["$null", {"$class": UID(1), "accessToken": UID(1)}]),
        "cycleOfClass": with_date({"$class": UID(5), "NS.time": 1.0}),
        "danglingMember": with_member(UID(77)),
        "hugeReference": with_member(UID(4_000_000_000)),
        "vastReference": with_member(UID(2**63 + 5)),
        "inlineString": with_member("inline"),
        "inlineNumber": with_member(5),
        "numberForString": with_member(UID(3), 5),
        "dictionaryForString": with_member(UID(3), {"NS.string": UID(3), "$class": UID(4)}, cls("NSString")),
        "stringForDate": with_date("x"),
        "dateOfString": with_date({"$class": UID(6), "NS.time": "x"}),
        "dateWithoutTime": with_date({"$class": UID(6)}),
        "dateNotANumber": with_date({"$class": UID(6), "NS.time": float("nan")}),
        "dateInfinite": with_date({"$class": UID(6), "NS.time": float("inf")}),
        "dateVast": with_date({"$class": UID(6), "NS.time": 1e300}),
        "dateVastInteger": with_date({"$class": UID(6), "NS.time": -(2**63)}),
        "danglingClass": with_date({"$class": UID(99), "NS.time": 1.0}),
        "classIsString": write(["$null", credentials, "A0Credentials", "access-1"]),
        "classNameIsNumber": write(["$null", credentials, {"$classname": 5, "$classes": 5}, "access-1"]),
        "noClass": write(["$null", {"accessToken": UID(2)}, "access-1"]),
        "otherClass": write(["$null", credentials, cls("Foreign"), "access-1"]),
        "rootIsString": write(["$null", "root"]),
        "rootIsNull": write(["$null", credentials, cls("A0Credentials"), "access-1"], root=UID(0)),
        "rootIsVast": write(["$null", credentials, cls("A0Credentials"), "access-1"], root=UID(2**31)),
        "rootIsNumber": write(["$null", credentials, cls("A0Credentials"), "access-1"], **{"$top": {"root": 1}}),
        "objectsAreDictionary": write({"a": 1}),
        "objectsAreEmpty": write([]),
        "topIsNumber": write(["$null"], **{"$top": 5}),
        "otherVersion": write(["$null", credentials, cls("A0Credentials"), "access-1"], **{"$version": 2}),
        "otherArchiver": write(["$null", credentials, cls("A0Credentials"), "access-1"], **{"$archiver": "Mine"}),
        "xml": plistlib.dumps(xml(plain), fmt=plistlib.FMT_XML),
        "listOfNumbers": plistlib.dumps([1, 2], fmt=plistlib.FMT_BINARY),
        "truncated": good[: len(good) // 2],
        "withoutEnd": good[:-1],
        "empty": b"",
        "headerOnly": b"bplist00" + b"\xff" * 40,
        "zeros": b"bplist00" + b"\x00" * 40,
    }
    parameters = {
        "urlBaseCycle": with_parameters({"$class": UID(12), "NS.relative": UID(5), "NS.base": UID(9)}, cls("NSURL")),
        "dictionaryUneven": with_parameters({"$class": UID(10), "NS.keys": [UID(5), UID(8)], "NS.objects": [UID(5)]}),
        "dictionaryCycle": with_parameters({"$class": UID(10), "NS.keys": [UID(5)], "NS.objects": [UID(9)]}),
        "dictionaryKeysNumber": with_parameters({"$class": UID(10), "NS.keys": 5, "NS.objects": [UID(9)]}),
        "dictionaryKeyIsDictionary": with_parameters({"$class": UID(10), "NS.keys": [UID(9)], "NS.objects": [UID(5)]}),
        "arrayDeep": with_parameters({"$class": UID(10), "NS.keys": [UID(5)], "NS.objects": [UID(12)]}, *deep),
        "arrayDoubling": with_parameters({"$class": UID(10), "NS.keys": [UID(5)], "NS.objects": [UID(12)]}, *doubling),
    }
    return members, parameters


def swift(name, comment, fixtures):
    lines = ["import Foundation", "", "// Written by make.py. Do not edit.", "", f"/// {comment}", f"enum {name}: String, CaseIterable {{"]
    lines += [f"    case {key}" for key in fixtures]
    lines += ["", "    /// The archive.", "    var data: Data { Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data() }", ""]
    lines += ["    private var text: String {", "        switch self {"]
    for key, data in fixtures.items():
        encoded = textwrap.wrap(base64.b64encode(data).decode(), 120) or [""]
        lines += [f"        case .{key}:", '            """', *[f"            {line}" for line in encoded], '            """']
    return "\n".join(lines + ["        }", "    }", "}"]) + "\n"


HOSTILE, PARAMETERS_HOSTILE = hostile()

for file, comment, fixtures in [
    ("OktaOIDCArchive", "An archive of okta-oidc-ios or OktaAuth.", OKTA_OIDC),
    ("AppAuthArchive", "An archive of AppAuth with a usable session.", APP_AUTH),
    ("RefusedArchive", "An archive of AppAuth whose session must not be imported.", REFUSED),
    ("Auth0Archive", "An archive of Auth0.swift.", AUTH0),
    ("HostileArchive", "Data that is no usable archive of Auth0.swift. A reader must not crash.", HOSTILE),
    ("HostileParameters", "An archive of AppAuth whose additional parameters cannot be read. A reader must not crash.", PARAMETERS_HOSTILE),
]:
    with open(f"{file}.swift", "w") as output:
        output.write(swift(file, comment, fixtures))
