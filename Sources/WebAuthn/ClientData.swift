internal import Crypto
internal import JOSE

/// The data that the client collected about a ceremony (WebAuthn Level 3 §5.8.1).
package struct ClientData: Sendable {
    /// A ceremony, as the member `type` names it.
    package enum Ceremony: String, Sendable {
        /// The registration of a passkey.
        case create = "webauthn.create"
        /// The authentication with a passkey.
        case get = "webauthn.get"
    }

    private static let limits = JSONValue.Limits(maximumSize: 16 << 10, maximumDepth: 8)

    /// The ceremony by its name, which may be unknown.
    package let type: String
    /// The challenge in base64url.
    package let challenge: String
    /// The origin of the page or app.
    package let origin: String
    /// Whether the ceremony took place in a frame of another origin. Absent means false.
    package let crossOrigin: Bool
    /// The origin of the top-level page. Only clients in a frame of another origin state it, and not all of them.
    package let topOrigin: String?
    /// The SHA-256 digest of the client data, as it is signed.
    package let hash: [UInt8]

    /// Parses client data. A byte order mark is ignored, and so are unknown members.
    /// A member that occurs twice is rejected: two parsers could read different values.
    package init(_ bytes: [UInt8]) throws(WebAuthnError) {
        // Registration steps 5, 6 and 12; authentication steps 8, 9 and 20.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard let json = try? JSONValue(parsing: text, limits: Self.limits), let members = json.objectValue else {
            throw .clientDataNotJSON
        }
        func string(_ member: WebAuthnError.ClientDataMember) throws(WebAuthnError) -> String {
            guard let value = members[member.rawValue]?.stringValue else { throw .clientDataMember(member) }
            return value
        }
        type = try string(.type)
        challenge = try string(.challenge)
        origin = try string(.origin)
        if let value = members["crossOrigin"] {
            guard let flag = value.boolValue else { throw .clientDataMember(.crossOrigin) }
            crossOrigin = flag
        } else {
            crossOrigin = false
        }
        topOrigin = members["topOrigin"] == nil ? nil : try string(.topOrigin)
        hash = Array(SHA256.hash(data: bytes))
    }

    /// Checks the ceremony, the challenge and the origins.
    /// Registration steps 7 to 11, and authentication steps 10 to 14.
    func check(_ ceremony: Ceremony, challenge expected: [UInt8], relyingParty: RelyingParty) throws(WebAuthnError) {
        // Steps 7 and 10.
        guard type.hasSameBytes(as: ceremony.rawValue) else { throw .wrongClientDataType }
        // Steps 8 and 11.
        guard challenge.hasSameBytes(as: Base64URL.encode(expected)) else { throw .wrongChallenge }
        // Steps 9 and 12.
        guard relyingParty.origins.contains(where: origin.hasSameBytes) else { throw .originNotAllowed }
        // Steps 10 and 13.
        guard crossOrigin || topOrigin != nil else { return }
        guard case .allow(let topOrigins) = relyingParty.crossOrigin else { throw .crossOriginNotAllowed }
        // Steps 11 and 14.
        guard let topOrigin else { return }
        guard topOrigins.contains(where: topOrigin.hasSameBytes) else { throw .topOriginNotAllowed }
    }
}

extension String {
    /// Whether two texts have the same bytes. The operator `==` also equates different code points, such as K and the Kelvin sign.
    fileprivate func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
