internal import Foundation

/// The client id and secret of an `Authorization: Basic` header (RFC 6749 section 2.3.1).
enum BasicCredentials {
    /// What a header held.
    enum Reading {
        /// No header, or one of another scheme.
        case absent
        /// A header that cannot be read.
        case malformed
        /// Both parts, form-decoded.
        case present(clientID: String, secret: String)
    }

    /// Reads the value of an `Authorization` header.
    ///
    /// - Parameter header: The header's value; nil if there is none.
    /// - Returns: What it held.
    static func read(_ header: String?) -> Reading {
        guard let header, let space = header.firstIndex(of: " "), header[..<space].lowercased() == "basic" else { return .absent }
        let encoded = header[space...].drop { $0 == " " }
        guard let decoded = Data(base64Encoded: String(encoded)), let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
            let clientID = try? FormParameters.decode(decoded[..<colon]),
            let secret = try? FormParameters.decode(decoded[decoded.index(after: colon)...]), !clientID.isEmpty
        else { return .malformed }
        return .present(clientID: clientID, secret: secret)
    }
}
