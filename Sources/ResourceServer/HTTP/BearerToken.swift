internal import HTTPTypes
internal import Hummingbird

/// Finds the token in a request (RFC 6750 section 2): in the `Authorization` header and nowhere else.
enum BearerToken {
    /// The longest token that is looked at, in bytes.
    static let maximumLength = 16_384

    static func token(in request: Request) throws(AccessTokenError) -> String {
        guard request.uri.queryParameters["access_token"] == nil else {
            throw AccessTokenError(
                .badRequest, "The access token must not be in the URL, which is logged: send it in the Authorization header.")
        }
        let values = request.headers[values: .authorization]
        guard let value = values.first else { throw none }
        guard values.count == 1 else {
            throw AccessTokenError(.badRequest, "The request has more than one Authorization header.")
        }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard let scheme = parts.first, scheme.lowercased() == "bearer" else { throw none }
        guard parts.count == 2, isToken(parts[1]) else {
            throw AccessTokenError(.badRequest, "The Authorization header must be: Bearer, one space, the access token.")
        }
        return String(parts[1])
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
