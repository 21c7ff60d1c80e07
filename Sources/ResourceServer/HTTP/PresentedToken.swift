internal import HTTPTypes
internal import Hummingbird

/// The token of a request, by the scheme `Bearer` (RFC 6750 section 2.1) or `DPoP` (RFC 9449 section 7.1): in the `Authorization`
/// header and nowhere else.
enum PresentedToken: Equatable {
    case bearer(String)
    case dpop(String)

    /// The longest token that is looked at, in bytes.
    static let maximumLength = 16_384

    init(_ request: Request) throws(AccessTokenError) {
        guard request.uri.queryParameters["access_token"] == nil else {
            throw AccessTokenError(
                .badRequest, "The access token must not be in the URL, which is logged: send it in the Authorization header.")
        }
        let values = request.headers[values: .authorization]
        guard let value = values.first else { throw Self.none }
        guard values.count == 1 else {
            throw AccessTokenError(.badRequest, "The request has more than one Authorization header.")
        }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        let scheme = parts.first?.lowercased()
        guard scheme == "bearer" || scheme == "dpop" else { throw Self.none }
        guard parts.count == 2, Self.isToken(parts[1]) else {
            throw AccessTokenError(
                .badRequest, "The Authorization header must be: \(scheme == "dpop" ? "DPoP" : "Bearer"), one space, the access token.")
        }
        self = scheme == "dpop" ? .dpop(String(parts[1])) : .bearer(String(parts[1]))
    }

    private static var none: AccessTokenError {
        AccessTokenError(.missing, "The request needs an access token: Authorization: Bearer and the token.")
    }

    /// The `b64token` of section 2.1.
    private static func isToken(_ text: Substring) -> Bool {
        let isInAlphabet = { (byte: UInt8) -> Bool in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                UInt8(ascii: "="):
                true
            default: false
            }
        }
        return !text.isEmpty && text.utf8.count <= maximumLength && text.utf8.allSatisfy(isInAlphabet)
    }
}
