internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

/// The metadata of an authorization server (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2). It lists only supported values.
struct MetadataDocument {
    enum Kind: Sendable { case openID, oauth }

    var kind: Kind
    var server: AuthorizationServerDefinition
    var snapshot: OrgSnapshot

    func json() -> JSONValue {
        func url(_ path: RoutePath) -> JSONValue { .string(snapshot.origin + path.at(server: server.id)) }
        var members: [String: JSONValue] = [
            "issuer": .string(snapshot.issuer(of: server)),
            "authorization_endpoint": url(.authorize),
            "token_endpoint": url(.token),
            "jwks_uri": url(.keys),
            "introspection_endpoint": url(.introspect),
            "revocation_endpoint": url(.revoke),
            "pushed_authorization_request_endpoint": url(.pushedRequest),
            "end_session_endpoint": url(.logout),
            "device_authorization_endpoint": url(.deviceAuthorize),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "authorization_response_iss_parameter_supported": true,
            "prompt_values_supported": ["none", "login", "consent"],
            "acr_values_supported": JSONValue(Engine.supportedContextClasses),
            "request_parameter_supported": false,
            // False, because only pushed request URIs are supported, for which RFC 9126 section 5 has its own member.
            "request_uri_parameter_supported": false,
            "subject_types_supported": ["public"],
            "grant_types_supported": JSONValue(grantTypes),
            "backchannel_authentication_endpoint": url(.backchannelAuthorize),
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
            members["userinfo_endpoint"] = url(.userInfo)
            members["id_token_signing_alg_values_supported"] = JSONValue(idTokenAlgorithms)
        }
        return .object(members)
    }

    /// The grant types of this server. Enrollment tickets are accepted only by the org server, token exchange only by custom servers, and
    /// assertions by the org server and by servers with trusted issuers.
    private var grantTypes: [String] {
        Engine.supportedGrantTypes.filter { type in
            switch type {
            case GrantType.tokenExchange: server.id != nil
            case GrantType.enrollmentTicket: server.id == nil
            case GrantType.jwtBearer: server.id == nil || !server.trustedIssuers.isEmpty
            default: true
            }
        }
    }

    /// The algorithms of ID tokens: RS256, which every server must announce (OpenID Connect Discovery section 3), and those that
    /// applications registered.
    private var idTokenAlgorithms: [String] {
        let registered = Set(snapshot.applications.map(\.idTokenAlgorithm.rawValue)).subtracting(["RS256"])
        return ["RS256"] + registered.sorted()
    }

    /// The reserved scopes and the server's public scopes.
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
