/// What goes back to the client through the browser (RFC 6749 section 4.1.2, OAuth 2.0 Multiple Response Types, Form Post Response Mode).
public struct AuthorizationResponse: Sendable, Equatable {
    /// How it goes.
    public enum Mode: String, Sendable, Codable, CaseIterable {
        /// In the query of the redirect URI.
        case query
        /// In its fragment.
        case fragment
        /// In the body of a form that the browser posts there.
        case formPost = "form_post"
    }

    /// One parameter of the answer.
    public struct Parameter: Sendable, Equatable {
        /// The name, as on the wire.
        public var name: String
        /// The value, not encoded.
        public var value: String
    }

    /// Where it goes: a URI that the client registered.
    public var redirectURI: String
    /// How it goes.
    public var mode: Mode
    /// What goes, in order.
    public var parameters: [Parameter]
    /// Why it is an error, for the log; nil for a success.
    public var reason: String?

    /// The redirect URI with the parameters in its query or fragment. Everything that the protocol does not name is escaped, so that
    /// nothing of it can end a header or add a parameter.
    public var location: String {
        let text = parameters.map { Self.escape($0.name) + "=" + Self.escape($0.value) }.joined(separator: "&")
        if mode == .fragment { return redirectURI + "#" + text }
        return redirectURI + (redirectURI.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + text
    }

    private static func escape(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension AuthorizationResponse {
    /// The error that a client is told.
    init(_ refusal: Refusal, to redirectURI: String, mode: Mode, state: String?, issuer: String) {
        self.redirectURI = redirectURI
        self.mode = mode
        parameters = [
            Parameter(name: "error", value: refusal.code.rawValue), Parameter(name: "error_description", value: refusal.description),
        ]
        if let state { parameters.append(Parameter(name: "state", value: state)) }
        parameters.append(Parameter(name: "iss", value: issuer))
        reason = refusal.reason
    }

    /// The error that a client is told of its request.
    init(_ refusal: Refusal, to request: AuthorizationRequest, issuer: String) {
        self.init(refusal, to: request.redirectURI, mode: request.responseMode, state: request.state, issuer: issuer)
    }

    /// The code that a client exchanges (RFC 6749 section 4.1.2), with the issuer that gave it (RFC 9207).
    init(code: String, to request: AuthorizationRequest, issuer: String) {
        redirectURI = request.redirectURI
        mode = request.responseMode
        parameters = [
            Parameter(name: "code", value: code), Parameter(name: "state", value: request.state), Parameter(name: "iss", value: issuer),
        ]
    }
}
