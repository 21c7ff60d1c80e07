/// Ids and secrets made from the environment's random bytes.
extension RandomSource {
    /// An id: a prefix of three characters and 17 of 62, as client ids (`0oa…`) and user ids (`00u…`) look.
    ///
    /// - Parameter prefix: What the id names, for people who read it.
    /// - Returns: 20 characters for a prefix of three, about 101 random bits.
    /// - Throws: What the source throws.
    func identifier(prefix: String) throws -> String {
        prefix + (try characters(17))
    }

    /// A secret that a ticket leads by.
    ///
    /// - Parameter prefix: Tells people and scanners what leaked; not a secret.
    /// - Returns: The prefix and 43 characters of 62, about 256 random bits.
    /// - Throws: What the source throws.
    func secret(prefix: String = "") throws -> String {
        prefix + (try characters(43))
    }

    private func characters(_ count: Int) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count)
        while text.count < count {
            // 248 is the largest multiple of 62 in a byte: what lies above would favour the first letters.
            for byte in try bytes(count - text.count + 4) where byte < 248 && text.count < count {
                text.append(identifierAlphabet[Int(byte % 62)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

private let identifierAlphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
