extension JSONWebKey {
    /// Parses the JSON text of one key (RFC 7517 §4).
    /// - Throws: ``JOSEError/Code/malformed`` if the text is not a JSON object or a member has the wrong form; ``JOSEError/Code/tooLarge``
    ///   or ``JOSEError/Code/tooDeep`` if it exceeds ``JSONValue/Limits/standard``; ``JOSEError/Code/invalidKey`` if the type or curve is
    ///   not supported or a number has the wrong length.
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
    /// - Parameter includingPrivateMembers: Whether to include the private part. Without it, only the type and the metadata of a secret are
    ///   returned.
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

/// Reads the members of a key. Errors name the member, never its value.
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
