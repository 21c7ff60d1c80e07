internal import AuthFoundation
internal import Foundation
internal import JOSE

/// A JWT that this device signs (Documentation/Protocol/Devices.md §3.3 and §3.4).
struct ClientToken: Sendable {
    static let life = 300

    let type: String
    let keyTag: String
    var claims: JSONValue

    /// Creates a token with the common claims; `nbf` is before `iat`, for servers whose clock is behind.
    init(type: String, keyTag: String, issuer: String, audience: String, subject: String, now: Date, randomness: Randomness) {
        self.type = type
        self.keyTag = keyTag
        let issuedAt = now.numericDate
        claims = [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(subject), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + Int64(Self.life)), "nbf": .integer(issuedAt - Int64(Self.life)), "jti": .string(randomness.uuid),
        ]
    }

    /// The bytes to sign: header and claims, separated by a dot.
    var signingInput: Data {
        let header: JSONValue = ["alg": "ES256", "typ": .string(type), "kid": .string(keyTag)]
        return Data("\(Base64URL.encode(header.serialized())).\(Base64URL.encode(claims.serialized()))".utf8)
    }

    static func compact(_ signingInput: Data, signature: Data) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    }

    /// Signs with a key that needs no user verification.
    func signed(by keys: any DeviceKeyStore) throws -> String {
        let input = signingInput
        return Self.compact(input, signature: try keys.sign(input, tag: keyTag))
    }
}

extension Randomness {
    /// A random UUID (RFC 9562, version 4) in upper case, for key tags and token ids.
    var uuid: String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = bytes.map { String(format: "%02X", $0) }.joined()
        let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return cuts.map { cut in
            String(text.dropFirst(cut.lowerBound).prefix(cut.count))
        }.joined(separator: "-")
    }
}
