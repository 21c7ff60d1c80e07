internal import Foundation
internal import IdentityCore
internal import JOSE

/// What a server says of itself: OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2.
///
/// It lists what works and nothing else.
package struct MetadataDocument {
    /// The two documents, by the last component of their well-known path.
    package enum Kind: String, Sendable {
        case openID = "openid-configuration"
        case oauth = "oauth-authorization-server"
    }

    var kind: Kind
    var server: AuthorizationServerDefinition
    var snapshot: OrgSnapshot

    /// The document.
    func json() -> JSONValue {
        let issuer = snapshot.issuer(of: server)
        let base = server.id == nil ? snapshot.origin + "/oauth2/v1" : issuer + "/v1"
        var members: [String: JSONValue] = [
            "issuer": .string(issuer),
            "authorization_endpoint": .string(base + "/authorize"),
            "token_endpoint": .string(base + "/token"),
            "jwks_uri": .string(base + "/keys"),
            "introspection_endpoint": .string(base + "/introspect"),
            "revocation_endpoint": .string(base + "/revoke"),
            "pushed_authorization_request_endpoint": .string(base + "/par"),
            "end_session_endpoint": .string(base + "/logout"),
            "device_authorization_endpoint": .string(base + "/device/authorize"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "authorization_response_iss_parameter_supported": true,
            "prompt_values_supported": ["none", "login", "consent"],
            "acr_values_supported": JSONValue(Engine.supportedContextClasses),
            "request_parameter_supported": false,
            // Of those that were pushed here, and no others (RFC 9126 section 5 has a name of its own for that).
            "request_uri_parameter_supported": false,
            "subject_types_supported": ["public"],
            "grant_types_supported": JSONValue(grantTypes),
            "backchannel_authentication_endpoint": .string(base + "/bc/authorize"),
            "backchannel_token_delivery_modes_supported": ["poll"],
            "scopes_supported": JSONValue(scopes),
            "claims_supported": JSONValue(kind == .openID ? Self.openIDClaims : Self.accessTokenClaims),
            "code_challenge_methods_supported": ["S256"],
            "dpop_signing_alg_values_supported": JSONValue(DPoPProof.algorithms.map(\.rawValue)),
        ]
        for endpoint in ["token", "introspection", "revocation"] {
            members["\(endpoint)_endpoint_auth_methods_supported"] = JSONValue(Self.authenticationMethods)
            members["\(endpoint)_endpoint_auth_signing_alg_values_supported"] = JSONValue(Self.assertionAlgorithms)
        }
        if kind == .openID {
            members["backchannel_logout_supported"] = true
            members["backchannel_logout_session_supported"] = true
            members["userinfo_endpoint"] = .string(base + "/userinfo")
            members["id_token_signing_alg_values_supported"] = JSONValue(idTokenAlgorithms)
        }
        return .object(members)
    }

    /// Devices get their maintenance tokens, and tokens for the tickets of sign-in pages, from the org server only, and share secrets at
    /// custom servers only; assertions about people are for servers that trust somebody.
    private var grantTypes: [String] {
        let prefix = "urn:ietf:params:oauth:grant-type:"
        return Engine.supportedGrantTypes.filter { type in
            switch type {
            case prefix + "token-exchange": server.id != nil
            case "urn:countersign:params:oauth:grant-type:enrollment-ticket": server.id == nil
            case prefix + "jwt-bearer": server.id == nil || !server.trustedIssuers.isEmpty
            default: true
            }
        }
    }

    /// RS256, which every server must announce (OpenID Connect Discovery section 3), and the other algorithms that applications registered.
    private var idTokenAlgorithms: [String] {
        let registered = Set(snapshot.applications.map(\.idTokenAlgorithm.rawValue)).subtracting(["RS256"])
        return ["RS256"] + registered.sorted()
    }

    /// The reserved scopes, and the server's own that are public.
    private var scopes: [String] {
        let reserved = ["openid", "profile", "email", "address", "phone", "offline_access"]
        let own = server.scopes.filter(\.isPublic).map(\.name)
        return reserved + (server.id == nil ? ["groups"] : ["device_sso"]) + own.filter { !reserved.contains($0) }
    }

    private static let authenticationMethods = [
        "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none",
    ]

    private static let assertionAlgorithms = [
        "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512",
    ]

    private static let openIDClaims = [
        "iss", "ver", "sub", "aud", "iat", "exp", "jti", "auth_time", "amr", "idp", "nonce", "name", "nickname",
        "preferred_username", "given_name", "middle_name", "family_name", "email", "email_verified", "profile", "zoneinfo",
        "locale", "address", "phone_number", "picture", "website", "gender", "birthdate", "updated_at", "at_hash", "sid", "ds_hash",
    ]

    private static let accessTokenClaims = ["ver", "jti", "iss", "aud", "iat", "exp", "cid", "uid", "scp", "sub"]
}
