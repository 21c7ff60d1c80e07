public import Foundation

// Encodings with the names in Okta's SDK, which apps use.

extension Data {
    /// Base64url without padding (RFC 4648 section 5).
    public var base64URLEncodedString: String {
        String(base64EncodedString().prefix { $0 != "=" }).replacing("+", with: "-").replacing("/", with: "_")
    }
}

extension [UInt8] {
    /// Base64url without padding (RFC 4648 section 5).
    public var base64URLEncodedString: String { Data(self).base64URLEncodedString }
}

extension String {
    /// The text of base64url, in the alphabet and with the padding of base64. `Data(base64Encoded:)` reads the result.
    public var base64URLDecoded: String {
        let text = replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

extension [String: String] {
    /// The values as a URL query, sorted by name.
    public var percentQueryEncoded: String { FormEncoding.query(adding: map { ($0.key, $0.value) }, to: nil) ?? "" }
}
