package import IdentityCore

/// The response to the client through the browser (RFC 6749 section 4.1.2, OAuth 2.0 Multiple Response Types, Form Post Response Mode).
package struct AuthorizationResponse: Sendable, Equatable {
    package struct Parameter: Sendable, Equatable {
        package var name: String
        /// The value, not percent-encoded.
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The registered redirect URI.
    package var redirectURI: String
    package var mode: AuthorizationRequest.ResponseMode
    /// The parameters, in the order in which they are sent.
    package var parameters: [Parameter]
    /// The cause of an error, for the log; `nil` for a success.
    package var reason: String?

    package init(redirectURI: String, mode: AuthorizationRequest.ResponseMode, parameters: [Parameter], reason: String? = nil) {
        (self.redirectURI, self.mode, self.parameters, self.reason) = (redirectURI, mode, parameters, reason)
    }

    /// The redirect URI with the parameters in its query or fragment. All reserved characters are percent-encoded, so that no value can end
    /// a header or add a parameter.
    package var location: String {
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
    init(_ refusal: Refusal, to redirectURI: String, mode: AuthorizationRequest.ResponseMode, state: String?, issuer: String) {
        self.redirectURI = redirectURI
        self.mode = mode
        parameters = [
            Parameter(name: "error", value: refusal.code.wireName), Parameter(name: "error_description", value: refusal.description),
        ]
        if let state { parameters.append(Parameter(name: "state", value: state)) }
        parameters.append(Parameter(name: "iss", value: issuer))
        reason = refusal.reason
    }

    package init(_ refusal: Refusal, to request: AuthorizationRequest, issuer: String) {
        self.init(refusal, to: request.redirectURI, mode: request.responseMode, state: request.state, issuer: issuer)
    }

    /// Creates a success response with the code (RFC 6749 section 4.1.2) and the issuer (RFC 9207).
    package init(code: String, to request: AuthorizationRequest, issuer: String) {
        redirectURI = request.redirectURI
        mode = request.responseMode
        parameters = [
            Parameter(name: "code", value: code), Parameter(name: "state", value: request.state), Parameter(name: "iss", value: issuer),
        ]
    }
}
