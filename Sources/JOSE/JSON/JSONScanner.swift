/// A scanner that validates JSON text byte by byte and locates its values, without copying.
/// Every read checks the byte count. The buffer must outlive the scanner.
struct JSONScanner {
    /// The range of a string, without its quotation marks.
    struct StringRange {
        var start: Int
        var end: Int
        /// Whether the string has only ASCII bytes and no escapes. The bytes of a plain string are its value, and equal plain strings have
        /// equal bytes.
        var isPlain: Bool
        var hasEscapes: Bool
    }

    struct NumberRange {
        var start: Int
        var end: Int
        var isInteger: Bool
    }

    enum Kind: UInt8 {
        case null
        case bool
        case number
        case string
        case array
        case object
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let maximumDepth: Int
    private(set) var index = 0

    /// Moves to an index that an earlier scan of the same text found.
    mutating func move(to index: Int) { self.index = index }

    /// Skips white space and returns the next byte, or 0 at the end. No token starts with 0.
    @inline(__always)
    mutating func peek() -> UInt8 {
        while index < bytes.count {
            let byte = bytes[index]
            if byte > 0x20 { return byte }
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return 0 }
            index += 1
        }
        return 0
    }

    @inline(__always)
    mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    mutating func require(_ byte: UInt8) throws(JOSEError) {
        guard skip(byte) else { throw Self.malformed }
    }

    mutating func requireEnd() throws(JOSEError) {
        _ = peek()
        guard index == bytes.count else { throw Self.malformed }
    }

    func kind(of byte: UInt8) throws(JOSEError) -> Kind {
        switch byte {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw Self.malformed
        }
    }

    mutating func scanWord(_ word: StaticString) throws(JOSEError) {
        let count = word.utf8CodeUnitCount
        guard bytes.count - index >= count else { throw Self.malformed }
        for offset in 0..<count where bytes[index + offset] != word.utf8Start[offset] { throw Self.malformed }
        index += count
    }

    /// Scans a number at the current index (RFC 8259 §6).
    mutating func scanNumber() throws(JOSEError) -> NumberRange {
        let start = index
        var isInteger = true
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") { index += 1 }
        let first = index
        try scanDigits()
        if bytes[first] == UInt8(ascii: "0"), index - first > 1 { throw Self.malformed }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            try scanDigits()
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index += 1
            if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
            try scanDigits()
        }
        return NumberRange(start: start, end: index, isInteger: isInteger)
    }

    private mutating func scanDigits() throws(JOSEError) {
        let start = index
        while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        guard index > start else { throw Self.malformed }
    }

    /// Scans a string. The current byte must be its opening quotation mark.
    @inline(__always)
    mutating func scanString() throws(JOSEError) -> StringRange {
        index += 1
        let start = index
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                return StringRange(start: start, end: index - 1, isPlain: true, hasEscapes: false)
            }
            if byte < 0x20 || byte == UInt8(ascii: "\\") || byte >= 0x80 { return try scanRemainder(from: start) }
            index += 1
        }
        throw Self.malformed
    }

    /// Scans a member name, like ``scanString()``, and rejects long names that are not plain.
    /// Names are hashed. For text outside ASCII, hashing takes quadratic time in the number of combining marks, which an attacker could
    /// exploit.
    @inline(__always)
    mutating func scanName() throws(JOSEError) -> StringRange {
        let name = try scanString()
        guard name.isPlain || name.end - name.start <= Self.maximumNameSize else { throw Self.longName }
        return name
    }

    private mutating func scanRemainder(from start: Int) throws(JOSEError) -> StringRange {
        var hasEscapes = false
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return StringRange(start: start, end: index - 1, isPlain: false, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                _ = try scanEscape()
            case 0..<0x20: throw Self.malformed
            case 0..<0x80: index += 1
            default: try scanMultibyteCharacter(byte)
            }
        }
        throw Self.malformed
    }

    /// Scans a UTF-8 character of two to four bytes (RFC 3629 §4).
    private mutating func scanMultibyteCharacter(_ first: UInt8) throws(JOSEError) {
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: count = 2
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: count = 3
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: count = 4
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        default: throw Self.malformed
        }
        guard bytes.count - index >= count, second.contains(bytes[index + 1]) else { throw Self.malformed }
        for offset in 2..<max(count, 2) where bytes[index + offset] & 0xC0 != 0x80 { throw Self.malformed }
        index += count
    }

    /// Scans an escape. The current byte must be its backslash.
    private mutating func scanEscape() throws(JOSEError) -> Unicode.Scalar {
        guard index + 1 < bytes.count else { throw Self.malformed }
        let letter = bytes[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw Self.malformed
        }
        let unit = try scanHexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, bytes.count - index >= 6, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { throw Self.malformed }
        index += 2
        let low = try scanHexadecimal()
        guard 0xDC00...0xDFFF ~= low, let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) else {
            throw Self.malformed
        }
        return scalar
    }

    private mutating func scanHexadecimal() throws(JOSEError) -> UInt32 {
        guard bytes.count - index >= 4 else { throw Self.malformed }
        var value: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            default: throw Self.malformed
            }
        }
        index += 4
        return value
    }

    func string(_ range: StringRange) -> String {
        let slice = UnsafeBufferPointer(rebasing: bytes[range.start..<range.end])
        guard range.hasEscapes else { return String(decoding: slice, as: UTF8.self) }
        var scalars = String.UnicodeScalarView()
        var scanner = JSONScanner(bytes: slice, maximumDepth: 0)
        while scanner.index < slice.count {
            let start = scanner.index
            if slice[start] == UInt8(ascii: "\\") {
                // Cannot fail: scanning the string has validated the escape.
                guard let scalar = try? scanner.scanEscape() else { break }
                scalars.append(scalar)
            } else {
                while scanner.index < slice.count, slice[scanner.index] != UInt8(ascii: "\\") { scanner.index += 1 }
                scalars.append(contentsOf: String(decoding: slice[start..<scanner.index], as: UTF8.self).unicodeScalars)
            }
        }
        return String(scalars)
    }

    func number(_ range: NumberRange) throws(JOSEError) -> JSONValue {
        if range.isInteger, let value = integer(range) { return .integer(value) }
        let text = String(decoding: bytes[range.start..<range.end], as: UTF8.self)
        guard let value = Double(text), value.isFinite else { throw JOSEError(.malformed, "A number of the JSON text is too large.") }
        return .double(value)
    }

    /// Returns the value of a scanned integer; `nil` if it does not fit in 64 bits or is a negative zero.
    func integer(_ range: NumberRange) -> Int64? {
        let isNegative = bytes[range.start] == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in bytes[(isNegative ? range.start + 1 : range.start)..<range.end] {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - UInt8(ascii: "0"))
            let (sum, carry) = isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || carry { return nil }
            value = sum
        }
        return isNegative && value == 0 ? nil : value
    }

    /// The maximum size of a name that is not plain, in bytes.
    private static let maximumNameSize = 1 << 10
    private static let longName = JOSEError(.tooLarge, "A member of the JSON text has a name of more than \(maximumNameSize) bytes.")
    static let malformed = JOSEError(.malformed, "Not a JSON text in UTF-8 (RFC 8259).")
    static let tooDeep = JOSEError(.tooDeep, "The JSON text is nested too deep.")
    static let duplicate = JOSEError(.malformed, "An object of the JSON text names a member twice.")
}

extension JSONScanner {
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONValue.Limits) -> Result<JSONValue, JOSEError> {
        guard bytes.count <= limits.maximumSize else {
            return .failure(JOSEError(.tooLarge, "The JSON text is longer than \(limits.maximumSize) bytes."))
        }
        var scanner = JSONScanner(bytes: bytes, maximumDepth: min(limits.maximumDepth, JSONValue.Limits.deepest))
        do throws(JOSEError) {
            let value = try scanner.parseValue(depth: 0)
            try scanner.requireEnd()
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    /// Parses the value at the current position. `depth` is the number of arrays and objects around it.
    mutating func parseValue(depth: Int) throws(JOSEError) -> JSONValue {
        let byte = peek()
        switch try kind(of: byte) {
        case .string: return .string(string(try scanString()))
        case .number: return try number(try scanNumber())
        case .null:
            try scanWord("null")
            return .null
        case .bool:
            try scanWord(byte == UInt8(ascii: "t") ? "true" : "false")
            return .bool(byte == UInt8(ascii: "t"))
        case .array: return .array(try parseArray(depth: depth + 1))
        case .object: return .object(try parseObject(depth: depth + 1))
        }
    }

    private mutating func parseArray(depth: Int) throws(JOSEError) -> [JSONValue] {
        guard depth <= maximumDepth else { throw Self.tooDeep }
        try require(UInt8(ascii: "["))
        var elements: [JSONValue] = []
        if skip(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try parseValue(depth: depth))
            if skip(UInt8(ascii: "]")) { return elements }
            try require(UInt8(ascii: ","))
        }
    }

    private mutating func parseObject(depth: Int) throws(JOSEError) -> [String: JSONValue] {
        guard depth <= maximumDepth else { throw Self.tooDeep }
        try require(UInt8(ascii: "{"))
        var members: [String: JSONValue] = [:]
        if skip(UInt8(ascii: "}")) { return members }
        while true {
            guard peek() == UInt8(ascii: "\"") else { throw Self.malformed }
            let name = string(try scanName())
            try require(UInt8(ascii: ":"))
            let value = try parseValue(depth: depth)
            guard members.updateValue(value, forKey: name) == nil else { throw Self.duplicate }
            if skip(UInt8(ascii: "}")) { return members }
            try require(UInt8(ascii: ","))
        }
    }

    /// Skips the value at the current position, with the same checks as ``parseValue(depth:)``.
    mutating func skipValue(depth: Int) throws(JOSEError) {
        let byte = peek()
        switch try kind(of: byte) {
        case .string: _ = try scanString()
        case .number:
            let range = try scanNumber()
            try checkSize(of: range)
        case .null: try scanWord("null")
        case .bool: try scanWord(byte == UInt8(ascii: "t") ? "true" : "false")
        case .array: try skipArray(depth: depth + 1)
        // Parsing is the simplest way to find duplicate members. Few tokens contain nested objects.
        case .object: _ = try parseObject(depth: depth + 1)
        }
    }

    private mutating func skipArray(depth: Int) throws(JOSEError) {
        guard depth <= maximumDepth else { throw Self.tooDeep }
        try require(UInt8(ascii: "["))
        if skip(UInt8(ascii: "]")) { return }
        repeat { try skipValue(depth: depth) } while skip(UInt8(ascii: ","))
        try require(UInt8(ascii: "]"))
    }

    /// Rejects a number that exceeds the range of `Double`. Integers of up to 300 digits always fit.
    func checkSize(of range: NumberRange) throws(JOSEError) {
        if !range.isInteger || range.end - range.start > 300 { _ = try number(range) }
    }
}
