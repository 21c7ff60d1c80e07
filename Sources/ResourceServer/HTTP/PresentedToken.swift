internal import HTTPTypes
internal import Hummingbird
internal import JOSE

extension PresentedToken {
    /// The maximum size of a token, in bytes.
    static let maximumLength = 16_384

    /// Reads the token of a request, which must be in the `Authorization` header.
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
        let header = AuthorizationHeader(value)
        guard let token = PresentedToken(header) else { throw Self.none }
        guard Self.isToken(header.remainder) else {
            throw AccessTokenError(
                .badRequest,
                "The Authorization header must be: \(header.scheme == "dpop" ? "DPoP" : "Bearer"), one space, the access token.")
        }
        self = token
    }

    private static var none: AccessTokenError {
        AccessTokenError(.missing, "The request needs an access token: Authorization: Bearer and the token.")
    }

    /// Whether the text is a `b64token` (RFC 6750 §2.1).
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
