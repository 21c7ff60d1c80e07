internal import Crypto
internal import CryptoExtras

/// A public, private or secret JSON Web Key (RFC 7517): RSA, EC on P-256, P-384 or P-521, Ed25519, or an HMAC secret.
/// This type checks only the form of a key, such as the lengths of numbers. ``SigningKey`` and ``VerificationKey`` check that a point is on
/// its curve, and ``SigningKey`` checks that the private part matches the public part. Descriptions show only public data; only
/// ``json(includingPrivateMembers:)`` exports private members.
public struct JSONWebKey: Sendable, Hashable {
    /// The type of a key (`kty`).
    public enum KeyType: String, Sendable, Hashable, CaseIterable {
        /// RSA.
        case rsa = "RSA"
        /// A NIST elliptic curve.
        case ec = "EC"
        /// An octet key pair: Ed25519.
        case okp = "OKP"
        /// An HMAC secret.
        case oct
    }

    /// The curve of a key (`crv`).
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// NIST P-256.
        case p256 = "P-256"
        /// NIST P-384.
        case p384 = "P-384"
        /// NIST P-521.
        case p521 = "P-521"
        /// Ed25519 (RFC 8037).
        case ed25519 = "Ed25519"

        /// The length of a coordinate and of the private part, in bytes.
        var byteCount: Int {
            switch self {
            case .p256, .ed25519: 32
            case .p384: 48
            case .p521: 66
            }
        }
    }

    enum Material: Sendable, Hashable {
        case rsa(RSAKeyNumbers)
        case ec(Curve, x: [UInt8], y: [UInt8], d: [UInt8]?)
        case okp(Curve, x: [UInt8], d: [UInt8]?)
        case oct([UInt8])
    }

    let material: Material
    /// The key's ID (`kid`); `nil` if the key has none.
    public var keyID: String?
    /// The intended use of the key (`use`): `sig` or `enc`; `nil` if the key does not state it.
    public var use: String?
    /// The name of the intended algorithm (`alg`); `nil` if the key does not state it. The name may be unknown to ``JWSAlgorithm``.
    public var algorithmName: String?
    /// The permitted operations (`key_ops`); `nil` if the key does not state them.
    public var keyOperations: [String]?

    init(material: Material, keyID: String? = nil, algorithm: JWSAlgorithm? = nil, use: String? = nil) {
        self.material = material
        self.keyID = keyID
        self.use = use
        algorithmName = algorithm?.rawValue
    }

    /// Creates an HMAC key from a secret, which must not be empty.
    public init(secret: some Collection<UInt8>, keyID: String? = nil, algorithm: JWSAlgorithm? = nil) {
        self.init(material: .oct(Array(secret)), keyID: keyID, algorithm: algorithm)
    }

    /// The intended algorithm (`alg`); `nil` if it is not stated or unknown.
    public var algorithm: JWSAlgorithm? {
        get { algorithmName.flatMap(JWSAlgorithm.init(rawValue:)) }
        set { algorithmName = newValue?.rawValue }
    }

    /// The key's type (`kty`).
    public var keyType: KeyType {
        switch material {
        case .rsa: .rsa
        case .ec: .ec
        case .okp: .okp
        case .oct: .oct
        }
    }

    /// The key's curve (`crv`), for EC and OKP keys; `nil` for other keys.
    public var curve: Curve? {
        switch material {
        case .ec(let curve, _, _, _), .okp(let curve, _, _): curve
        case .rsa, .oct: nil
        }
    }

    /// The modulus length of an RSA key, in bits; `nil` for other keys.
    public var modulusSize: Int? { if case .rsa(let numbers) = material { numbers.modulusSize } else { nil } }

    /// Whether the key has a private part. Always true for a secret.
    public var isPrivate: Bool {
        switch material {
        case .rsa(let numbers): numbers.privateNumbers != nil
        case .ec(_, _, _, let d), .okp(_, _, let d): d != nil
        case .oct: true
        }
    }

    /// The key without its private part; `nil` for a secret.
    public var publicKey: JSONWebKey? {
        let material: Material
        switch self.material {
        case .rsa(let numbers): material = .rsa(RSAKeyNumbers(n: numbers.n, e: numbers.e, privateNumbers: nil))
        case .ec(let curve, let x, let y, _): material = .ec(curve, x: x, y: y, d: nil)
        case .okp(let curve, let x, _): material = .okp(curve, x: x, d: nil)
        case .oct: return nil
        }
        var key = JSONWebKey(material: material, keyID: keyID, use: use)
        key.algorithmName = algorithmName
        if keyOperations != nil { key.keyOperations = ["verify"] }
        return key
    }

    /// The key's thumbprint (RFC 7638): the SHA-256 hash of its required members, in base64url.
    /// A public key and its private key have the same thumbprint. The thumbprint of a secret is a hash of the secret: keep the thumbprint
    /// private if the secret could be guessed.
    public var thumbprint: String {
        let required: JSONValue
        switch material {
        case .rsa(let numbers): required = ["kty": "RSA", "n": Self.text(numbers.n), "e": Self.text(numbers.e)]
        case .ec(let curve, let x, let y, _):
            required = ["kty": "EC", "crv": .string(curve.rawValue), "x": Self.text(x), "y": Self.text(y)]
        case .okp(let curve, let x, _): required = ["kty": "OKP", "crv": .string(curve.rawValue), "x": Self.text(x)]
        case .oct(let secret): required = ["kty": "oct", "k": Self.text(secret)]
        }
        return Base64URL.encode(Array(SHA256.hash(data: required.serialized())))
    }

    static func text(_ bytes: [UInt8]) -> JSONValue { .string(Base64URL.encode(bytes)) }

    /// Whether the key may be used with an algorithm: its type and curve match, and its `alg`, `use` and `key_ops` permit it.
    public func permits(_ algorithm: JWSAlgorithm) -> Bool {
        guard keyType == algorithm.keyType, curve == algorithm.curve else { return false }
        if let algorithmName, algorithmName != algorithm.rawValue { return false }
        if let use, use != "sig" { return false }
        if let keyOperations, !keyOperations.contains(where: { $0 == "sign" || $0 == "verify" }) { return false }
        return true
    }
}

extension JSONWebKey: Redacted {
    /// The key's type, curve and ID, and whether it is private; never its private part.
    public var description: String {
        "JSONWebKey(\(keyType.rawValue)\(curve.map { " \($0.rawValue)" } ?? ""), kid: \(keyID ?? "none"), \(isPrivate ? "private" : "public"))"
    }
}

extension JSONWebKey {
    /// Parses a public key in PEM format (`BEGIN PUBLIC KEY` or `BEGIN RSA PUBLIC KEY`).
    /// - Throws: ``JOSEError/Code/invalidKey`` if the text is not a public key of a supported type, or is an RSA key of fewer than 2048
    ///   bits.
    public init(publicKeyPEM pem: String, keyID: String? = nil) throws(JOSEError) {
        guard let material = Self.material(publicKeyPEM: pem) else {
            throw JOSEError(.invalidKey, "The text is no public key in PEM: RSA from 2048 bits, P-256, P-384, P-521 or Ed25519.")
        }
        self.init(material: material, keyID: keyID)
    }

    /// Tries each key type in turn, and returns the first match or `nil`. A text that one type cannot parse may be a key of another type.
    private static func material(publicKeyPEM pem: String) -> Material? {
        if let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem), let numbers = try? RSAKeyNumbers(key) { return .rsa(numbers) }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return elliptic(.p256, point: Array(key.rawRepresentation)) }
        if let key = try? P384.Signing.PublicKey(pemRepresentation: pem) { return elliptic(.p384, point: Array(key.rawRepresentation)) }
        if let key = try? P521.Signing.PublicKey(pemRepresentation: pem) { return elliptic(.p521, point: Array(key.rawRepresentation)) }
        if let key = try? Curve25519.Signing.PublicKey(pemRepresentation: pem) {
            return .okp(.ed25519, x: Array(key.rawRepresentation), d: nil)
        }
        return nil
    }

    static func elliptic(_ curve: Curve, point: [UInt8], d: [UInt8]? = nil) -> Material {
        let middle = point.count / 2
        return .ec(curve, x: Array(point[..<middle]), y: Array(point[middle...]), d: d)
    }

    /// The public key in PEM format (`BEGIN PUBLIC KEY`); `nil` for a secret and for an invalid key.
    public var pemRepresentation: String? {
        switch material {
        case .rsa(let numbers): try? numbers.verificationKey().pemRepresentation
        case .ec(.p256, let x, let y, _): try? P256.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
        case .ec(.p384, let x, let y, _): try? P384.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
        case .ec(.p521, let x, let y, _): try? P521.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
        case .okp(_, let x, _): try? Curve25519.Signing.PublicKey(rawRepresentation: x).pemRepresentation
        case .ec, .oct: nil
        }
    }
}

extension JSONWebKey {
    /// Parses the JSON text of one key (RFC 7517 §4).
    /// - Throws: ``JOSEError/Code/malformed`` if the text is not a JSON object or a member has the wrong form; ``JOSEError/Code/tooLarge``
    ///   or ``JOSEError/Code/tooDeep`` if the text exceeds ``JSONValue/Limits/standard``; ``JOSEError/Code/invalidKey`` if the type or
    ///   curve is not supported or a number has the wrong length.
    public init(parsing json: some Collection<UInt8>) throws(JOSEError) {
        try self.init(JSONValue(parsing: json))
    }

    /// Reads a key from a JSON object (RFC 7517 §4). Unknown members are ignored.
    /// - Throws: ``JOSEError/Code/malformed`` if the value is not an object or a member has the wrong form; ``JOSEError/Code/invalidKey``
    ///   if the type or curve is not supported or a number has the wrong length.
    public init(_ value: JSONValue) throws(JOSEError) {
        let reader = try Reader(value)
        guard let type = KeyType(rawValue: try reader.string("kty")) else {
            throw JOSEError(.invalidKey, "The key's type (kty) is none of RSA, EC, OKP, oct.")
        }
        switch type {
        case .rsa: material = .rsa(try reader.rsaNumbers())
        case .ec: material = try reader.ellipticKey()
        case .okp: material = try reader.octetKeyPair()
        case .oct:
            let secret = try reader.bytes("k")
            guard !secret.isEmpty else { throw JOSEError(.invalidKey, "The key's secret (k) is empty.") }
            material = .oct(secret)
        }
        keyID = try reader.optionalString("kid")
        use = try reader.optionalString("use")
        algorithmName = try reader.optionalString("alg")
        if let operations = value["key_ops"] {
            guard let names = operations.stringArrayValue else { throw Reader.wrongForm("key_ops") }
            keyOperations = names
        }
    }

    /// Returns the key as a JSON object (RFC 7517 §4).
    /// - Parameter includingPrivateMembers: Whether to include the private part. If false, the result for a secret contains only its type
    ///   and metadata.
    public func json(includingPrivateMembers: Bool = false) -> JSONValue {
        var object: JSONValue = ["kty": .string(keyType.rawValue)]
        switch material {
        case .rsa(let numbers):
            object["n"] = Self.text(numbers.n)
            object["e"] = Self.text(numbers.e)
            if includingPrivateMembers, let secret = numbers.privateNumbers {
                object["d"] = Self.text(secret.d)
                object["p"] = Self.text(secret.p)
                object["q"] = Self.text(secret.q)
                object["dp"] = Self.text(secret.dp)
                object["dq"] = Self.text(secret.dq)
                object["qi"] = Self.text(secret.qi)
            }
        case .ec(let curve, let x, let y, let d):
            object["crv"] = .string(curve.rawValue)
            object["x"] = Self.text(x)
            object["y"] = Self.text(y)
            if includingPrivateMembers, let d { object["d"] = Self.text(d) }
        case .okp(let curve, let x, let d):
            object["crv"] = .string(curve.rawValue)
            object["x"] = Self.text(x)
            if includingPrivateMembers, let d { object["d"] = Self.text(d) }
        case .oct(let secret):
            if includingPrivateMembers { object["k"] = Self.text(secret) }
        }
        object["kid"] = keyID.map(JSONValue.string)
        object["use"] = use.map(JSONValue.string)
        object["alg"] = algorithmName.map(JSONValue.string)
        object["key_ops"] = keyOperations.map { JSONValue($0) }
        return object
    }
}

/// A reader of the members of a key. Errors name the member, never its value.
private struct Reader {
    let members: [String: JSONValue]

    init(_ value: JSONValue) throws(JOSEError) {
        guard let members = value.objectValue else { throw JOSEError(.malformed, "A JSON Web Key is a JSON object.") }
        self.members = members
    }

    static func wrongForm(_ name: String) -> JOSEError {
        JOSEError(.malformed, "The key's member \(name) is absent or has the wrong form.")
    }

    func string(_ name: String) throws(JOSEError) -> String {
        guard let value = try optionalString(name) else { throw Self.wrongForm(name) }
        return value
    }

    func optionalString(_ name: String) throws(JOSEError) -> String? {
        guard let value = members[name] else { return nil }
        guard let string = value.stringValue else { throw Self.wrongForm(name) }
        return string
    }

    func bytes(_ name: String) throws(JOSEError) -> [UInt8] {
        do throws(JOSEError) { return try Base64URL.decode(try string(name)) } catch { throw Self.wrongForm(name) }
    }

    /// Reads bytes of a fixed length (RFC 7518 §6.2.1.2).
    func bytes(_ name: String, count: Int) throws(JOSEError) -> [UInt8] {
        let bytes = try bytes(name)
        guard bytes.count == count else { throw JOSEError(.invalidKey, "The key's member \(name) does not have \(count) bytes.") }
        return bytes
    }

    /// Reads a number and removes the leading zeros that some producers write.
    func number(_ name: String) throws(JOSEError) -> [UInt8] {
        let bytes = try bytes(name)
        guard let first = bytes.firstIndex(where: { $0 != 0 }) else { throw JOSEError(.invalidKey, "The key's member \(name) is zero.") }
        return first == 0 ? bytes : Array(bytes[first...])
    }

    func ellipticKey() throws(JOSEError) -> JSONWebKey.Material {
        guard let curve = JSONWebKey.Curve(rawValue: try string("crv")), curve != .ed25519 else {
            throw JOSEError(.invalidKey, "The key's curve (crv) is none of P-256, P-384, P-521.")
        }
        let count = curve.byteCount
        return .ec(
            curve, x: try bytes("x", count: count), y: try bytes("y", count: count),
            d: members["d"] == nil ? nil : try bytes("d", count: count))
    }

    func octetKeyPair() throws(JOSEError) -> JSONWebKey.Material {
        guard let curve = JSONWebKey.Curve(rawValue: try string("crv")), curve == .ed25519 else {
            throw JOSEError(.invalidKey, "The key's curve (crv) is not Ed25519.")
        }
        return .okp(curve, x: try bytes("x", count: 32), d: members["d"] == nil ? nil : try bytes("d", count: 32))
    }

    func rsaNumbers() throws(JOSEError) -> RSAKeyNumbers {
        var numbers = RSAKeyNumbers(n: try number("n"), e: try number("e"), privateNumbers: nil)
        guard numbers.modulusSize <= RSAKeyNumbers.maximumModulusSize else {
            throw JOSEError(.invalidKey, "The RSA key is longer than \(RSAKeyNumbers.maximumModulusSize) bits.")
        }
        guard members["oth"] == nil else { throw JOSEError(.invalidKey, "RSA keys of more than two primes are not supported.") }
        guard members["d"] != nil else { return numbers }
        let names = ["p", "q", "dp", "dq", "qi"]
        guard names.contains(where: { members[$0] != nil }) else {
            numbers.privateNumbers = try RSAKeyNumbers.PrivateNumbers(n: numbers.n, e: numbers.e, d: try number("d"))
            return numbers
        }
        numbers.privateNumbers = RSAKeyNumbers.PrivateNumbers(
            d: try number("d"), p: try number("p"), q: try number("q"), dp: try number("dp"), dq: try number("dq"), qi: try number("qi"))
        return numbers
    }
}

/// A JSON Web Key Set (RFC 7517 §5).
public struct JSONWebKeySet: Sendable, Hashable {
    /// The keys, in the order of the document.
    public var keys: [JSONWebKey]

    /// Creates a set.
    public init(_ keys: [JSONWebKey] = []) { self.keys = keys }

    /// Parses the JSON text of a set. Keys of an unknown type and malformed keys are skipped (RFC 7517 §5).
    /// - Throws: ``JOSEError/Code/malformed`` if the text is not a JSON object with an array `keys`; ``JOSEError/Code/tooLarge`` or
    ///   ``JOSEError/Code/tooDeep`` if the text exceeds ``JSONValue/Limits/standard``.
    public init(parsing json: some Collection<UInt8>) throws(JOSEError) {
        try self.init(JSONValue(parsing: json))
    }

    /// Reads a set from a JSON object, like ``init(parsing:)``.
    /// - Throws: ``JOSEError/Code/malformed`` if the value is not an object with an array `keys`.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard let elements = value["keys"]?.arrayValue else {
            throw JOSEError(.malformed, "A JSON Web Key Set is a JSON object with an array named keys (RFC 7517, section 5).")
        }
        // An unreadable key does no harm: a token that needs it is rejected because its key is unknown.
        keys = elements.compactMap { try? JSONWebKey($0) }
    }

    /// Returns the set as a JSON object with the public parts only. Secrets are omitted.
    public func json() -> JSONValue {
        ["keys": .array(keys.compactMap { $0.publicKey?.json(includingPrivateMembers: false) })]
    }

    /// The first key with this ID (`kid`); `nil` if there is none.
    public subscript(keyID keyID: String) -> JSONWebKey? { keys.first { $0.keyID == keyID } }
}

/// Encodes the public parts only, in the format of RFC 7517.
extension JSONWebKeySet: Codable {
    /// Decodes a set, like ``init(_:)-(JSONValue)``.
    /// - Throws: `DecodingError`, or ``JOSEError/Code/malformed`` if the value is not a set.
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder))
    }

    /// Encodes the public parts of the keys.
    public func encode(to encoder: any Encoder) throws {
        try json().encode(to: encoder)
    }
}
