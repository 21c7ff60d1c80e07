/// The identifier of an authenticator model (WebAuthn Level 3 §6.5.1). Only a trusted attestation proves it.
package struct AAGUID: Sendable, Hashable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// The zero AAGUID, with which an authenticator does not name its model.
    package static let zero = AAGUID(unchecked: [UInt8](repeating: 0, count: 16))

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Creates an AAGUID; `nil` if there are not 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Parses the form `00112233-4455-6677-8899-aabbccddeeff`, in lower or upper case; `nil` for other texts.
    package init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard groups.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = groups.joined().map { Character(Unicode.Scalar($0)).hexDigitValue }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.bytes = bytes
    }

    /// The form `00112233-4455-6677-8899-aabbccddeeff`.
    package var description: String {
        let digits = bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
    }
}

/// An AAGUID is coded as its text.
extension AAGUID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let aaguid = AAGUID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not an AAGUID.")
        }
        self = aaguid
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The data that an authenticator signs (WebAuthn Level 3 §6.1).
package struct AuthenticatorData: Sendable {
    /// The flags of an authenticator. Unknown flags are ignored.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The user was present (UP).
        package static let userPresent = Flags(rawValue: 0x01)
        /// The authenticator verified the user (UV).
        package static let userVerified = Flags(rawValue: 0x04)
        /// The credential can be backed up (BE).
        package static let backupEligible = Flags(rawValue: 0x08)
        /// The credential is backed up (BS).
        package static let backupState = Flags(rawValue: 0x10)
        /// The data contains a credential (AT).
        package static let attestedCredential = Flags(rawValue: 0x40)
        /// The data contains extension outputs (ED).
        package static let extensions = Flags(rawValue: 0x80)
    }

    /// A new credential.
    package struct Credential: Sendable {
        /// The authenticator's model.
        package let aaguid: AAGUID
        /// The credential id.
        package let id: [UInt8]
        /// The public key as a COSE key, not yet decoded.
        package let publicKey: [UInt8]
    }

    /// All bytes, as they are signed.
    package let bytes: [UInt8]
    /// The SHA-256 digest of the RP ID.
    package let relyingPartyIDHash: [UInt8]
    /// The flags.
    package let flags: Flags
    /// The number of signatures, or 0 if the authenticator does not count.
    package let signCount: UInt32
    /// The new credential; `nil` without the flag AT.
    package let credential: Credential?
    /// The outputs of authenticator extensions; empty without the flag ED.
    package let extensions: [CBORKey: CBORValue]

    /// Parses authenticator data, which must be the whole input.
    package init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count >= 37 else { throw .authenticatorDataTruncated }
        self.bytes = bytes
        relyingPartyIDHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var rest = bytes[37...]
        credential = flags.contains(.attestedCredential) ? try Self.credential(from: &rest) : nil
        extensions = flags.contains(.extensions) ? try Self.extensions(from: &rest) : [:]
        guard rest.isEmpty else { throw .authenticatorDataTrailingBytes }
    }

    private static func credential(from rest: inout ArraySlice<UInt8>) throws(WebAuthnError) -> Credential {
        guard let aaguid = AAGUID(bytes: rest.prefix(16)) else { throw .authenticatorDataTruncated }
        rest = rest.dropFirst(16)
        let length = rest.prefix(2)
        guard length.count == 2 else { throw .authenticatorDataTruncated }
        let count = length.reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(2)
        guard rest.count >= count else { throw .authenticatorDataTruncated }
        let id = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        // Only decoding shows the length of the key.
        let keyLength: Int
        do throws(CBORError) { keyLength = try CBORValue.decodePrefix(of: rest).count } catch { throw .publicKey(.notCBOR(error)) }
        defer { rest = rest.dropFirst(keyLength) }
        return Credential(aaguid: aaguid, id: id, publicKey: Array(rest.prefix(keyLength)))
    }

    private static func extensions(from rest: inout ArraySlice<UInt8>) throws(WebAuthnError) -> [CBORKey: CBORValue] {
        guard let (value, count) = try? CBORValue.decodePrefix(of: rest), let members = value.mapValue,
            members.keys.allSatisfy({ if case .text = $0 { true } else { false } })
        else { throw .extensionsInvalid }
        rest = rest.dropFirst(count)
        return members
    }
}
