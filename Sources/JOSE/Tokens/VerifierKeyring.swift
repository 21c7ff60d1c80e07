/// The keys of a verifier, with precomputed encodings of the usual token headers.
/// Most tokens of an issuer use a few identical headers, which are matched by their bytes. Other headers are parsed. The keyring is
/// immutable, so it needs no lock.
struct VerifierKeyring: Sendable {
    private struct KnownHeader: Sendable {
        let encoded: [UInt8]
        let key: Int
    }

    private let keys: [VerificationKey]
    private let algorithms: Set<JWSAlgorithm>
    private let expectedType: String?
    private let acceptsGeneralType: Bool
    /// The known headers, grouped by the length of their encoding. The length is the index.
    private var knownHeaders: [[KnownHeader]] = []

    init(keys: JSONWebKeySet, algorithms: Set<JWSAlgorithm>, expectedType: String?, acceptsGeneralType: Bool) {
        self.algorithms = algorithms
        self.expectedType = expectedType
        self.acceptsGeneralType = acceptsGeneralType
        let ordered = JWSAlgorithm.allCases.filter(algorithms.contains)
        // Keys that are invalid or do not match an algorithm are skipped.
        self.keys = keys.keys.flatMap { jwk in ordered.compactMap { try? VerificationKey(jwk, algorithm: $0) } }
        for (position, key) in self.keys.enumerated() {
            for spelling in Self.spellings(of: key, expectedType: expectedType) {
                // Keeps only headers that the parser accepts and resolves to this key.
                guard let header = try? JOSEHeader(parsing: spelling), (try? keyPositions(for: header)) == [position] else { continue }
                remember(Array(Base64URL.encode(spelling).utf8), key: position)
            }
        }
    }

    /// Returns the usual spellings of a key's header: `alg` and `kid` in either order, and `typ` at any position.
    private static func spellings(of key: VerificationKey, expectedType: String?) -> [[UInt8]] {
        let algorithm = "\"alg\":\"\(key.algorithm.rawValue)\""
        let keyID = key.keyID.map { "\"kid\":" + JSONValue.string($0).serializedString }
        // The caller removes spellings with a rejected type.
        let types = ["JWT"] + (expectedType.map { [$0, "application/" + $0] } ?? ["at+jwt", "application/at+jwt"])
        var members: [[String]] = keyID.map { [[algorithm, $0], [$0, algorithm]] } ?? [[algorithm]]
        for type in types {
            let type = "\"typ\":" + JSONValue.string(type).serializedString
            guard let keyID else {
                members += [[algorithm, type], [type, algorithm]]
                continue
            }
            members += [
                [algorithm, keyID, type], [algorithm, type, keyID], [keyID, algorithm, type],
                [keyID, type, algorithm], [type, algorithm, keyID], [type, keyID, algorithm],
            ]
        }
        return members.map { Array("{\($0.joined(separator: ","))}".utf8) }
    }

    private mutating func remember(_ encoded: [UInt8], key: Int) {
        while knownHeaders.count <= encoded.count { knownHeaders.append([]) }
        knownHeaders[encoded.count].append(KnownHeader(encoded: encoded, key: key))
    }

    enum Candidates {
        case one(Int)
        case several([Int])
    }

    /// Returns the keys that may have signed a token with this header.
    func keys(forHeader encoded: UnsafeBufferPointer<UInt8>) throws(JOSEError) -> Candidates {
        if encoded.count < knownHeaders.count {
            for known in knownHeaders[encoded.count] where encoded.hasSameBytes(as: known.encoded) { return .one(known.key) }
        }
        guard let bytes = Base64URL.decode(buffer: encoded) else { throw Base64URL.invalid }
        return .several(try keyPositions(for: try JOSEHeader(parsing: bytes)))
    }

    private func keyPositions(for header: JOSEHeader) throws(JOSEError) -> [Int] {
        guard algorithms.contains(header.algorithm) else {
            throw JOSEError(.algorithmNotAllowed, "The token is signed with \(header.algorithm.rawValue), which is not accepted here.")
        }
        if let expectedType, !header.hasType(expectedType), !(acceptsGeneralType && (header.type == nil || header.hasType("JWT"))) {
            throw JOSEError(.wrongType, "The token's type (typ) is not \(expectedType).")
        }
        let fitting = keys.indices.filter { keys[$0].algorithm == header.algorithm }
        var found = fitting
        if let keyID = header.keyID {
            found = fitting.filter { keys[$0].keyID == keyID }
            // A key without an ID may be the right key.
            if found.isEmpty { found = fitting.filter { keys[$0].keyID == nil } }
        }
        // If the ID is missing or shared, every matching key is tried. The number is limited because each attempt costs time.
        guard !found.isEmpty else {
            throw JOSEError(.unknownKey, "The token is signed with a key that is not in the issuer's key set; fetch the set again.")
        }
        guard found.count <= 4 else {
            throw JOSEError(.unknownKey, "The token does not say which of the issuer's keys it is signed with (kid).")
        }
        return found
    }

    func verify(_ segments: CompactSegments, with candidates: Candidates) throws(JOSEError) {
        guard let count = Base64URL.decodedCount(of: segments.signature.count) else { throw Base64URL.invalid }
        let result: Result<Bool, JOSEError> = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(count, 1)) { buffer in
            let signature = UnsafeMutableBufferPointer(rebasing: buffer[..<count])
            guard Base64URL.decode(segments.signature, into: signature) else { return .failure(Base64URL.invalid) }
            switch candidates {
            case .one(let key): return .success(isValid(UnsafeRawBufferPointer(signature), of: segments, with: key))
            case .several(let keys):
                return .success(keys.contains { isValid(UnsafeRawBufferPointer(signature), of: segments, with: $0) })
            }
        }
        guard try result.get() else { throw JSONWebSignature.badSignature }
    }

    private func isValid(_ signature: UnsafeRawBufferPointer, of segments: CompactSegments, with key: Int) -> Bool {
        keys[key].isValidSignature(signature, for: segments.signingInput)
    }
}
