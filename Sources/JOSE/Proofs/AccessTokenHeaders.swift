/// The access token in an `Authorization` header: with the scheme `Bearer` (RFC 6750 §2.1) or `DPoP` (RFC 9449 §7.1).
package enum PresentedToken: Equatable, Sendable {
    case bearer(String)
    case dpop(String)

    /// Creates the value from a header; `nil` if the header has another scheme. The token can be empty or malformed.
    package init?(_ header: AuthorizationHeader) {
        switch header.scheme {
        case "bearer": self = .bearer(String(header.credentials))
        case "dpop": self = .dpop(String(header.credentials))
        default: return nil
        }
    }
}

/// The parts of an `Authorization` header (RFC 9110 §11.6.2).
package struct AuthorizationHeader {
    /// The scheme, in lower case.
    package let scheme: String
    /// The text after the first space; empty if there is no space.
    package let remainder: Substring
    /// The text after all spaces that follow the scheme.
    package var credentials: Substring { remainder.drop { $0 == " " } }

    package init(_ value: String) {
        let name = value.prefix { $0 != " " }
        scheme = name.lowercased()
        remainder = value[name.endIndex...].dropFirst()
    }
}

/// The value of `WWW-Authenticate` for a request without a sufficient access token (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3, RFC 9728 §5.1).
package enum AccessTokenChallenge {
    package enum Scheme: String, Sendable {
        case bearer = "Bearer"
        case dpop = "DPoP"
    }

    /// Returns a challenge of one scheme; `nil` parameters are left out. A `Bearer` challenge needs at least one parameter.
    package static func value(
        _ scheme: Scheme, realm: String? = nil, error: String? = nil, description: String? = nil, scope: String? = nil,
        contextClasses: [String] = [], maxAge: Int? = nil, resourceMetadata: String? = nil
    ) -> String {
        let algorithms = scheme == .dpop ? DPoPProof.algorithms.map(\.rawValue).joined(separator: " ") : nil
        let parameters = [
            ("realm", realm), ("error", error), ("error_description", description), ("scope", scope),
            ("acr_values", contextClasses.isEmpty ? nil : contextClasses.joined(separator: " ")), ("max_age", maxAge.map(String.init)),
            ("algs", algorithms), ("resource_metadata", resourceMetadata),
        ]
        return scheme.rawValue + " "
            + parameters.compactMap { name, value in value.map { "\(name)=\"\(quotable($0))\"" } }.joined(separator: ", ")
    }

    /// Replaces the characters that RFC 6750 §3 does not allow in a quoted value.
    private static func quotable(_ text: String) -> String {
        String(text.unicodeScalars.map { (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" ? Character($0) : "'" })
    }
}
