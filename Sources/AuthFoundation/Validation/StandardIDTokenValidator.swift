public import Foundation

/// A validator of ID token claims according to OpenID Connect Core 1.0 §3.1.3.7.
public struct StandardIDTokenValidator: IDTokenValidator, Sendable {
    /// The maximum difference in seconds between the time of issue and the current time. The default is 300.
    public var issuedAtGraceInterval: TimeInterval = 300

    /// The number of seconds for which an expired token is still accepted. The default is 0.
    public var expirationLeeway: TimeInterval = 0

    /// The accepted signature algorithms: RS256, and the algorithms that the client adds because its issuer announces them.
    public var allowedAlgorithms: Set<JWK.Algorithm> = [.rs256]

    /// Returns the current time: by default the time of `Date.coordinator`. A client sets its own time.
    var now: @Sendable () -> Date = { Date.nowCoordinated }

    /// Creates a validator with default settings.
    public init() {}

    /// Validates the claims of an ID token, but not its signature.
    /// - Parameters:
    ///   - token: The ID token.
    ///   - issuer: The expected issuer.
    ///   - clientId: The expected client.
    ///   - context: The parameters of the sign-in. A `maxAge` of 0 requires an authentication during this sign-in: `auth_time` must be at
    ///     most ``issuedAtGraceInterval`` before the time of issue.
    /// - Throws: ``JWTError`` for an invalid token.
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

    /// Checks that the audience is a string or a list that contains the client. A list with several audiences requires `azp`. If `azp` is
    /// present, it must be the client.
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
        // An unreadable `nbf` counts as a time in the future.
        if let member = token.body["nbf"], !member.isNull,
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

/// The rule that plain http is allowed only on this machine.
package enum LoopbackRule {
    /// Returns whether the URL is https, or http on a loopback host.
    package static func isAcceptable(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": url.host() != nil
        case "http": url.host().map(isLoopback) ?? false
        default: false
        }
    }

    /// Returns whether the host is `localhost`, a subdomain of `localhost`, an address in 127.0.0.0/8, or `::1`.
    package static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }
}
