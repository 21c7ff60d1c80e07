internal import Crypto
package import Foundation
package import IdentityCore
internal import JOSE
internal import ServerHTTP
package import Store

/// Authenticates the client of a request (RFC 6749 section 2.3, RFC 7523 section 2.2; Documentation/Protocol/OAuth.md §2.2). The caller
/// must commit ``Outcome/assertionUse``, because an assertion with a `jti` is valid once. An unknown client and a wrong secret get the same
/// response, after about the same time.
package struct ClientAuthenticator: Sendable {
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The maximum time until an assertion expires, in seconds.
    static let longestAssertion: Double = 3600
    /// The allowed clock difference to the client, in seconds.
    private static let clockLeeway: Double = 60

    package let snapshot: OrgSnapshot
    package let server: AuthorizationServerDefinition
    package let now: Date

    /// An authenticated client.
    package struct Outcome: Sendable {
        package var application: Application
        /// Marks the assertion as used; `nil` without an assertion that has a `jti`.
        package var assertionUse: Change?
    }

    /// Checks the client's credentials.
    /// - Throws: ``Refusal``: `invalid_request` for contradictory credentials or a wrong assertion type, otherwise `invalid_client`.
    package func authenticate(_ credentials: ClientCredentials) throws(Refusal) -> Outcome {
        switch try Presented(credentials.withoutEmptyParameters) {
        case .none(let id): return Outcome(application: try publicClient(id))
        case .secret(let id, let secret, let method):
            return Outcome(application: try client(id, withSecret: secret, by: method))
        case .assertion(let id, let assertion): return try client(id, withAssertion: assertion, endpoint: credentials.endpoint)
        }
    }

    private enum Presented {
        case none(String)
        /// The client id, the secret, and the method by which the client sent both.
        case secret(String, String, Application.Authentication)
        case assertion(String?, String)

        init(_ credentials: ClientCredentials) throws(Refusal) {
            let bySignature = credentials.assertion != nil || credentials.assertionType != nil
            let count = (credentials.basic != nil ? 1 : 0) + (credentials.secret != nil ? 1 : 0) + (bySignature ? 1 : 0)
            guard count < 2 else {
                throw Refusal(
                    .invalidRequest, "The request carries more than one kind of client credentials.", reason: "client.several_credentials")
            }
            if bySignature {
                guard credentials.assertionType == ClientAuthenticator.assertionType, let assertion = credentials.assertion else {
                    throw Refusal(
                        .invalidRequest,
                        "A client assertion needs both client_assertion and client_assertion_type=\(ClientAuthenticator.assertionType).",
                        reason: "client.assertion_type")
                }
                self = .assertion(credentials.clientID, assertion)
            } else if let basic = credentials.basic {
                guard credentials.clientID == nil || credentials.clientID == basic.clientID else {
                    throw Refusal(.invalidRequest, "The request names two different clients.", reason: "client.two_ids")
                }
                self = .secret(basic.clientID, basic.secret, .clientSecretBasic)
            } else if let id = credentials.clientID {
                if let secret = credentials.secret { self = .secret(id, secret, .clientSecretPost) } else { self = .none(id) }
            } else {
                throw Refusal(.invalidClient, "The request carries no client credentials.", reason: "client.no_credentials")
            }
        }
    }

    private func publicClient(_ id: String) throws(Refusal) -> Application {
        guard let application = active(id) else { throw Self.wrong("client.unknown") }
        guard application.authentication == .none else { throw Self.wrong("client.credentials_missing") }
        return application
    }

    /// Authenticates by secret. Only the registered method is accepted; a client with `client_secret` may use both methods.
    private func client(
        _ id: String, withSecret secret: String, by method: Application.Authentication
    ) throws(Refusal) -> Application {
        let application = active(id)
        let isRegistered = application?.authentication == method || application?.authentication == .clientSecret
        // The secret is always compared, so that an unknown client takes as long as a wrong secret.
        let isEqual = Self.isEqual(secret, (isRegistered ? application?.secret : nil) ?? "\u{0}")
        guard let application else { throw Self.wrong("client.unknown") }
        guard isRegistered, application.secret != nil else { throw Self.wrong("client.method") }
        guard isEqual else { throw Self.wrong("client.secret") }
        return application
    }

    private func client(_ id: String?, withAssertion assertion: String, endpoint: String) throws(Refusal) -> Outcome {
        guard let claimed = try? JSONWebSignature(parsing: assertion).unverifiedClaims().subject, id == nil || id == claimed else {
            throw Self.wrong("client.assertion_subject")
        }
        guard let application = active(claimed) else { throw Self.wrong("client.unknown") }
        guard let (keys, algorithms) = Self.keys(of: application) else { throw Self.wrong("client.method") }
        let verifier = JWTVerifier(
            keys: keys, algorithms: algorithms, issuer: claimed, audience: audiences(of: application, endpoint), leeway: Self.clockLeeway)
        let claims: ClaimSet
        do {
            claims = try verifier.verify(assertion, now: now)
        } catch {
            throw Self.wrong("client.assertion: \(error.code.rawValue)")
        }
        // The server of a second audience could replay the assertion here (rfc7523bis).
        guard claims.audience.count == 1 else { throw Self.wrong("client.assertion: several audiences") }
        guard claims.jwtID != nil || !application.requiresAssertionID else { throw Self.wrong("client.assertion: no jti") }
        let now = now.timeIntervalSince1970
        guard let end = claims.expiresAt, now < end else { throw Self.wrong("client.assertion: expired") }
        guard end <= now + Self.longestAssertion else { throw Self.wrong("client.assertion: too long") }
        return Outcome(application: application, assertionUse: claims.jwtID.map { AssertionUse(of: $0, by: claimed, until: end).change })
    }

    /// Returns the accepted audiences of an assertion: the issuer and, unless `requiresIssuerAudience` is set, the token endpoint and the
    /// called endpoint.
    private func audiences(of application: Application, _ endpoint: String) -> Set<String> {
        let issuer = snapshot.issuer(of: server)
        guard !application.requiresIssuerAudience else { return [issuer] }
        return [endpoint, issuer, snapshot.origin + RoutePath.token.at(server: server.id)]
    }

    /// Returns the keys and algorithms of a client's method; `nil` for a method without assertions. Only one kind of key is returned, so
    /// that a secret never verifies a signature meant for a public key, and vice versa.
    private static func keys(of application: Application) -> (JSONWebKeySet, Set<JWSAlgorithm>)? {
        switch application.authentication {
        case .clientSecretJWT:
            guard let secret = application.secret else { return nil }
            return (JSONWebKeySet([JSONWebKey(secret: Array(secret.utf8))]), [.hs256, .hs384, .hs512])
        case .privateKeyJWT:
            return application.keys.map { ($0, [.rs256, .rs384, .rs512, .es256, .es384, .es512]) }
        case .none, .clientSecret, .clientSecretBasic, .clientSecretPost:
            return nil
        }
    }

    private func active(_ id: String) -> Application? {
        guard let application = snapshot.application(id), application.isActive else { return nil }
        return application
    }

    /// Compares two texts in constant time. A time difference would reveal the position of a wrong character or the length of the secret.
    private static func isEqual(_ a: String, _ b: String) -> Bool {
        SHA256.hash(data: Array(a.utf8)).isSameSecret(as: SHA256.hash(data: Array(b.utf8)))
    }

    /// Returns the refusal of a failed client authentication. The response is the same for every reason, which only the log shows.
    package static func wrong(_ reason: String) -> Refusal {
        Refusal(.invalidClient, "The client credentials are wrong, or the client is not known.", reason: reason)
    }
}

extension ClientCredentials {
    /// The credentials without empty parameters, which count as absent (RFC 6749 section 3.1).
    fileprivate var withoutEmptyParameters: ClientCredentials {
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        return ClientCredentials(
            clientID: present(clientID), secret: present(secret), basic: basic, assertionType: present(assertionType),
            assertion: present(assertion), endpoint: endpoint)
    }
}

/// The unchecked client credentials of one request (RFC 6749 section 2.3, RFC 7523 section 2.2).
package struct ClientCredentials: Sendable {
    package var clientID: String?
    package var secret: String?
    /// The form-decoded user name and password of an `Authorization: Basic` header; `nil` without one.
    package var basic: (clientID: String, secret: String)?
    package var assertionType: String?
    package var assertion: String?
    /// The URL of the called endpoint, which is an accepted audience of an assertion.
    package var endpoint: String
}

extension ClientCredentials: Redacted {
    package var description: String { "ClientCredentials(client: \(clientID ?? basic?.clientID ?? "none"))" }
}
