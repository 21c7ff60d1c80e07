/// Base32 (RFC 4648 section 6) without padding, as authenticator apps write secrets.
package enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | Int(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(alphabet[bits >> count & 31])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes what ``encode(_:)`` gives, also in lower case and with spaces, as people type it; nil for anything else.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for character in text.uppercased().utf8 where character != UInt8(ascii: " ") {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (bits, count) = (bits << 5 | value, count + 5)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 0xFF))
                bits &= 1 << count - 1
            }
        }
        // What is left over is padding, and less than a character.
        return count < 5 && bits == 0 ? bytes : nil
    }
}
