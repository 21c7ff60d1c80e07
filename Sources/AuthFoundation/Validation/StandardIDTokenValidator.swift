public import Foundation

/// The check of an ID token's claims by OpenID Connect Core 1.0, 3.1.3.7.
public struct StandardIDTokenValidator: IDTokenValidator, Sendable {
    /// By how many seconds the time of issue may differ from now; 300 unless set.
    public var issuedAtGraceInterval: TimeInterval = 300

    /// For how many seconds after its end a token still passes; 0 unless set.
    public var expirationLeeway: TimeInterval = 0

    /// The algorithms that a signature may be made with: RS256, unless the client adds those that its issuer announces.
    public var allowedAlgorithms: Set<JWK.Algorithm> = [.rs256]

    /// What the time is; by `Date.coordinator` unless the client gives its own.
    var now: @Sendable () -> Date = { Date.nowCoordinated }

    /// A check with the usual settings.
    public init() {}

    /// Checks an ID token's claims in the order of the standard.
    ///
    /// - Parameters:
    ///   - token: The ID token.
    ///   - issuer: The issuer that it must be from.
    ///   - clientId: The client that it must be for.
    ///   - context: What the sign-in asked for. A `maxAge` of 0 asks for an authentication within the request, so that it passes if
    ///     `auth_time` is not older than ``issuedAtGraceInterval``.
    /// - Throws: ``JWTError`` for a token that is not acceptable.
    public func validate(token: JWT, issuer: URL, clientId: String, context: (any IDTokenValidatorContext)?) throws {
        guard let tokenIssuer = token.issuer, tokenIssuer == issuer.absoluteString else { throw JWTError.invalidIssuer }
        try checkAudience(of: token, clientId: clientId)
        guard let issuerURL = URL(string: tokenIssuer), LoopbackRule.isAcceptable(issuerURL) else { throw JWTError.issuerRequiresHTTPS }
        guard allowedAlgorithms.contains(token.header.algorithm) else { throw JWTError.unsupportedAlgorithm(token.header.algorithm) }
        try checkTimes(of: token)
        guard token.value(for: .nonce) as String? == context?.nonce else { throw JWTError.nonceMismatch }
        try checkAuthenticationTime(of: token, maxAge: context?.maxAge)
        guard let subject = token.subject, !subject.isEmpty else { throw JWTError.invalidSubject }
    }

    /// The audience is a string or a list; with several, `azp` must be there, and wherever it is, it must be this client.
    private func checkAudience(of token: JWT, clientId: String) throws {
        guard let audiences = token.audiences, audiences.contains(clientId) else { throw JWTError.invalidAudience }
        let party: String? = token[.authorizedParty]
        guard party == clientId || (party == nil && audiences.count == 1) else { throw JWTError.invalidAudience }
    }

    private func checkTimes(of token: JWT) throws {
        let now = now()
        guard let end = token.expirationTime, end.addingTimeInterval(expirationLeeway) > now else { throw JWTError.expired }
        guard let issuedAt = token.issuedAt, abs(issuedAt.timeIntervalSince(now)) <= issuedAtGraceInterval else {
            throw JWTError.issuedAtTimeExceedsGraceInterval
        }
        // A `nbf` that cannot be read counts as a time in the future.
        if let member = token.body["nbf"], member != .null,
            (token.notBefore?.timeIntervalSince(now)).map({ $0 > issuedAtGraceInterval }) ?? true
        {
            throw JWTError.issuedAtTimeExceedsGraceInterval
        }
    }

    private func checkAuthenticationTime(of token: JWT, maxAge: TimeInterval?) throws {
        guard let maxAge else { return }
        guard let authTime = token.authTime, let issuedAt = token.issuedAt, authTime <= issuedAt.addingTimeInterval(1) else {
            throw JWTError.invalidAuthenticationTime
        }
        let allowed = maxAge > 0 ? maxAge : issuedAtGraceInterval
        guard issuedAt.timeIntervalSince(authTime) <= allowed else { throw JWTError.exceedsMaxAge }
    }
}

/// Where plain http is allowed: on this machine only.
package enum LoopbackRule {
    /// Whether the URL is https, or http on a loopback host.
    package static func isAcceptable(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": url.host() != nil
        case "http": url.host().map(isLoopback) ?? false
        default: false
        }
    }

    /// `localhost` and names below it, 127.0.0.0/8, `::1`.
    package static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }
}
