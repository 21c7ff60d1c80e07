/// A decoder that converts terminal input to keys.
struct KeyDecoder {
    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// The maximum length of an escape sequence in bytes; longer sequences are invalid.
    private static let longestSequence = 16

    private var pending: [UInt8] = []
    private var isPasting = false

    /// Whether the input ends with an incomplete escape sequence or character.
    var isWaiting: Bool { !pending.isEmpty }

    /// Adds input bytes.
    ///
    /// - Returns: The complete keys.
    mutating func keys(of bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let (key, count) = next() {
            pending.removeFirst(count)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Decodes incomplete input after a pause: an Esc counts as a key of its own.
    mutating func flush() -> [Key] {
        guard !isPasting, let first = pending.first else { return [] }
        let rest = pending.dropFirst()
        pending = []
        guard first == 0x1B else { return [] }
        return [.escape] + keys(of: rest)
    }

    /// Returns the next key and its length in bytes; the key is `nil` for input to ignore. Returns `nil` if the input is incomplete.
    private mutating func next() -> (Key?, Int)? {
        guard let first = pending.first else { return nil }
        if isPasting { return pasted() }
        switch first {
        case 0x1B: return sequence()
        case 0x0D, 0x0A: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x00...0x1F: return (nil, 1)
        default: return character()
        }
    }

    private func character() -> (Key?, Int)? {
        guard let first = pending.first else { return nil }
        let length =
            switch first {
            case 0x00..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 0
            }
        guard length > 0 else { return (nil, 1) }
        guard pending.count >= length else { return nil }
        guard let text = String(validating: pending[..<length], as: UTF8.self), let character = text.first else { return (nil, 1) }
        return (.character(character), length)
    }

    /// Returns the next key of pasted input. Pasted control characters are ignored, so that a line break does not press Return.
    private mutating func pasted() -> (Key?, Int)? {
        guard let first = pending.first else { return nil }
        if first == 0x1B {
            if pending.starts(with: Self.pasteEnd) {
                isPasting = false
                return (nil, Self.pasteEnd.count)
            }
            return Self.pasteEnd.starts(with: pending) ? nil : (nil, 1)
        }
        return first < 0x20 || first == 0x7F ? (nil, 1) : character()
    }

    private mutating func sequence() -> (Key?, Int)? {
        guard pending.count > 1 else { return nil }
        switch pending[1] {
        case UInt8(ascii: "["):
            guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                return pending.count > Self.longestSequence ? (nil, 1) : nil
            }
            let body = String(decoding: pending[2...end], as: UTF8.self)
            if body == "200~" { isPasting = true }
            return (Self.sequences[body], end + 1)
        case UInt8(ascii: "O"):
            guard pending.count > 2 else { return nil }
            return (Self.sequences[String(decoding: pending[2...2], as: UTF8.self)], 3)
        // An Esc is a key of its own, even directly before another key, because a user may type fast or have a slow terminal. A key with
        // Alt sends the same bytes, but keys with Alt have no meaning here.
        default: return (.escape, 1)
        }
    }

    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab, "1~": .home, "4~": .end, "7~": .home,
        "8~": .end, "3~": .delete, "5~": .pageUp, "6~": .pageDown, "M": .enter,
    ]
}
