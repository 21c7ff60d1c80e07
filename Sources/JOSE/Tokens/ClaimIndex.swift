/// An index of the claims in a payload: their locations, and the times in the registered claims.
struct ClaimIndex: Sendable {
    /// The location of one claim, with offsets from the start of the payload.
    struct Member: Sendable {
        var nameStart: UInt32
        var nameEnd: UInt32
        var valueStart: UInt32
        var valueEnd: UInt32
        var kind: JSONScanner.Kind
        var nameIsPlain: Bool
        var nameHasEscapes: Bool
        /// Whether the value is a string whose bytes are its value.
        var valueIsPlain: Bool
    }

    private(set) var members: [Member] = []
    private(set) var issuer: Int?
    private(set) var subject: Int?
    private(set) var audience: Int?
    private(set) var jwtID: Int?
    private(set) var expiresAt: Double?
    private(set) var notBefore: Double?
    private(set) var issuedAt: Double?
    private let maximumDepth: Int

    static func make(of bytes: UnsafeBufferPointer<UInt8>, limits: JSONValue.Limits) -> Result<ClaimIndex, JOSEError> {
        do throws(JOSEError) { return .success(try ClaimIndex(bytes, limits: limits)) } catch { return .failure(error) }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONValue.Limits) throws(JOSEError) {
        guard bytes.count <= min(limits.maximumSize, Int(UInt32.max)) else {
            throw JOSEError(.tooLarge, "The claims are longer than \(limits.maximumSize) bytes.")
        }
        maximumDepth = min(limits.maximumDepth, JSONValue.Limits.deepest)
        members.reserveCapacity(24)
        var scanner = JSONScanner(bytes: bytes, maximumDepth: maximumDepth)
        guard scanner.skip(UInt8(ascii: "{")) else { throw JOSEError(.malformed, "The claims are no JSON object.") }
        if !scanner.skip(UInt8(ascii: "}")) {
            repeat { try append(from: &scanner) } while scanner.skip(UInt8(ascii: ","))
            try scanner.require(UInt8(ascii: "}"))
        }
        try scanner.requireEnd()
        guard limits.maximumDepth >= 1 else { throw JSONScanner.tooDeep }
        try checkForDuplicates(in: bytes)
    }

    private mutating func append(from scanner: inout JSONScanner) throws(JOSEError) {
        guard scanner.peek() == UInt8(ascii: "\"") else { throw JSONScanner.malformed }
        let name = try scanner.scanName()
        try scanner.require(UInt8(ascii: ":"))
        let kind = try scanner.kind(of: scanner.peek())
        let start = scanner.index
        var valueIsPlain = false
        var number: JSONScanner.NumberRange?
        switch kind {
        case .string: valueIsPlain = try scanner.scanString().isPlain
        case .number:
            let range = try scanner.scanNumber()
            number = range
            try scanner.checkSize(of: range)
        default: try scanner.skipValue(depth: 1)
        }
        members.append(
            Member(
                nameStart: UInt32(truncatingIfNeeded: name.start), nameEnd: UInt32(truncatingIfNeeded: name.end),
                valueStart: UInt32(truncatingIfNeeded: start), valueEnd: UInt32(truncatingIfNeeded: scanner.index), kind: kind,
                nameIsPlain: name.isPlain, nameHasEscapes: name.hasEscapes, valueIsPlain: valueIsPlain))
        if name.hasEscapes {
            let characters = Array(scanner.string(name).utf8)
            if characters.count == 3 {
                try noteRegistered((characters[0], characters[1], characters[2]), number: number, kind: kind, scanner: scanner)
            }
        } else if name.end - name.start == 3 {
            let bytes = scanner.bytes
            let characters = (bytes[name.start], bytes[name.start + 1], bytes[name.start + 2])
            try noteRegistered(characters, number: number, kind: kind, scanner: scanner)
        }
    }

    /// Records the claim that was read last, if it is registered. All registered claims have names of three letters.
    private mutating func noteRegistered(
        _ name: (UInt8, UInt8, UInt8), number: JSONScanner.NumberRange?, kind: JSONScanner.Kind, scanner: JSONScanner
    ) throws(JOSEError) {
        let position = members.count - 1
        switch name {
        case (UInt8(ascii: "i"), UInt8(ascii: "s"), UInt8(ascii: "s")): issuer = try requireString(position, "iss")
        case (UInt8(ascii: "s"), UInt8(ascii: "u"), UInt8(ascii: "b")): subject = try requireString(position, "sub")
        case (UInt8(ascii: "j"), UInt8(ascii: "t"), UInt8(ascii: "i")): jwtID = try requireString(position, "jti")
        case (UInt8(ascii: "e"), UInt8(ascii: "x"), UInt8(ascii: "p")): expiresAt = try Self.requireNumber(number, "exp", scanner)
        case (UInt8(ascii: "n"), UInt8(ascii: "b"), UInt8(ascii: "f")): notBefore = try Self.requireNumber(number, "nbf", scanner)
        case (UInt8(ascii: "i"), UInt8(ascii: "a"), UInt8(ascii: "t")): issuedAt = try Self.requireNumber(number, "iat", scanner)
        case (UInt8(ascii: "a"), UInt8(ascii: "u"), UInt8(ascii: "d")):
            audience = position
            if kind == .string { return }
            guard kind == .array, value(of: members[position], in: scanner.bytes)?.stringArrayValue != nil else {
                throw Self.wrongType("aud")
            }
        default: break
        }
    }

    private func requireString(_ position: Int, _ name: String) throws(JOSEError) -> Int {
        guard members[position].kind == .string else { throw Self.wrongType(name) }
        return position
    }

    private static func requireNumber(
        _ number: JSONScanner.NumberRange?, _ name: String, _ scanner: JSONScanner
    ) throws(JOSEError) -> Double {
        guard let number, let value = try scanner.number(number).doubleValue else { throw wrongType(name) }
        // Times before 1970 or after 9999 count as the nearest bound. For example, an `exp` of the largest integer means that the token
        // never expires.
        return min(max(value, NumericDate.range.lowerBound), NumericDate.range.upperBound)
    }

    private static func wrongType(_ name: String) -> JOSEError {
        JOSEError(.invalidClaim, "The claim \(name) has the wrong type (RFC 7519, section 4.1).")
    }

    /// Rejects duplicate names. Pairwise comparison is fastest for the few claims of a usual token; larger sets are hashed.
    private func checkForDuplicates(in bytes: UnsafeBufferPointer<UInt8>) throws(JOSEError) {
        guard members.count <= 48, members.allSatisfy(\.nameIsPlain) else {
            guard Set(members.map { name(of: $0, in: bytes) }).count == members.count else { throw JSONScanner.duplicate }
            return
        }
        for position in members.indices.dropFirst() {
            let member = members[position]
            for other in members[..<position] where other.nameEnd - other.nameStart == member.nameEnd - member.nameStart {
                let isDuplicate = bytes[from: Int(member.nameStart), to: Int(member.nameEnd)]
                    .hasSameBytes(as: bytes[from: Int(other.nameStart), to: Int(other.nameEnd)])
                guard !isDuplicate else { throw JSONScanner.duplicate }
            }
        }
    }

    func name(of member: Member, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        JSONScanner(bytes: bytes, maximumDepth: 0).string(
            JSONScanner.StringRange(
                start: Int(member.nameStart), end: Int(member.nameEnd), isPlain: member.nameIsPlain, hasEscapes: member.nameHasEscapes))
    }

    func member(named name: String, in bytes: UnsafeBufferPointer<UInt8>) -> Member? {
        let utf8 = name.utf8
        return members.first { member in
            if member.nameIsPlain {
                return utf8.count == Int(member.nameEnd - member.nameStart)
                    && bytes[Int(member.nameStart)..<Int(member.nameEnd)].elementsEqual(utf8)
            }
            return self.name(of: member, in: bytes) == name
        }
    }

    /// Returns the value of a claim. Never returns `nil` for a member of this index, because its value has been validated.
    func value(of member: Member, in bytes: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        var scanner = JSONScanner(bytes: bytes, maximumDepth: maximumDepth)
        scanner.move(to: Int(member.valueStart))
        return try? scanner.parseValue(depth: 1)
    }

    func isString(_ member: Member, equalTo expected: [UInt8], in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard member.kind == .string else { return false }
        if member.valueIsPlain {
            return bytes[from: Int(member.valueStart) + 1, to: Int(member.valueEnd) - 1].hasSameBytes(as: expected)
        }
        return value(of: member, in: bytes)?.stringValue?.utf8.elementsEqual(expected) ?? false
    }
}
