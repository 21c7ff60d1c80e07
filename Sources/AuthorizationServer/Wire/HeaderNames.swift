internal import HTTPTypes

/// Names of headers, spelled as they go over the wire. Official clients look some of them up in lower case only.
extension HTTPField.Name {
    static let requestID = literal("x-okta-request-id")
    static let rateLimitLimit = literal("x-rate-limit-limit")
    static let rateLimitRemaining = literal("x-rate-limit-remaining")
    static let rateLimitReset = literal("x-rate-limit-reset")
    static let pragma = literal("Pragma")
    static let forwardedFor = literal("X-Forwarded-For")
    static let referrerPolicy = literal("Referrer-Policy")
    static let frameOptions = literal("X-Frame-Options")
    static let xAccelBuffering = literal("X-Accel-Buffering")
    static let dpop = literal("DPoP")
    static let dpopNonce = literal("DPoP-Nonce")
    static let deviceToken = literal("X-Device-Token")
    static let openerPolicy = literal("Cross-Origin-Opener-Policy")
    static let fetchSite = literal("Sec-Fetch-Site")
    static let fetchDestination = literal("Sec-Fetch-Dest")

    /// Only for the literals above: one that is no name stops the first request of any test.
    private static func literal(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name(name.description) else { preconditionFailure("\(name) is no header name") }
        return field
    }
}

extension HTTPFields {
    /// What the caller calls the device that it speaks for; longer ones are not what the header is for (oauth reference 4.4).
    var deviceToken: String? { self[.deviceToken].flatMap { (1...32).contains($0.utf8.count) ? $0 : nil } }
}
