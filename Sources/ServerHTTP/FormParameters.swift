internal import JOSE

/// Parameters of an `application/x-www-form-urlencoded` body or of a query (RFC 6749 appendix B). Rejects invalid escapes, invalid UTF-8
/// and repeated names, which are ambiguous. Accepts unescaped characters, because clients differ. A parameter without a value counts as
/// omitted (RFC 6749 section 3.1).
package struct FormParameters: Sendable, Equatable {
    /// The values of the parameters by name, without empty values.
    package private(set) var values: [String: String] = [:]
    /// The repeated names, if the parser keeps them; only their first values are in ``values``.
    package private(set) var repeated: Set<String> = []

    /// The maximum number of parameters in a form.
    static let maximumCount = 100
    /// The maximum length of a name in bytes.
    static let maximumNameLength = 128
    /// Names that clients are known to repeat; their values are joined with a space.
    static let listed: Set<String> = ["challenge_types_supported"]

    /// A parse error. The description is safe to send to the client: it contains no value of the form.
    package enum Failure: Error, Equatable {
        case tooMany
        case nameTooLong
        case badEscape
        case notUTF8
        case nulByte
        case repeated(String)
        case notJSON
        case noText(String)

        package var description: String {
            switch self {
            case .tooMany: "The request has more than \(FormParameters.maximumCount) parameters."
            case .nameTooLong: "The request has a parameter name of more than \(FormParameters.maximumNameLength) bytes."
            case .badEscape: "The request has a percent sign that two hexadecimal digits do not follow."
            case .notUTF8: "The request has a parameter that is not UTF-8."
            case .nulByte: "The request has a parameter with a NUL character."
            case .repeated(let name): "The parameter '\(name)' occurs more than once."
            case .notJSON: "The request's body is no JSON object, or has a member twice."
            case .noText(let name): "The parameter '\(name)' must be a text or a whole number."
            }
        }
    }

    init() {}

    /// Parses a form. With `keepsRepeated`, repeated names are recorded in ``repeated`` instead of rejected.
    package init(parsing form: some Collection<UInt8>, keepsRepeated: Bool = false) throws(Failure) {
        try self.init(Array(form)[...], keepsRepeated: keepsRepeated)
    }

    /// Parses a form. Not generic, because generic code is not specialised for callers in other modules.
    private init(_ form: ArraySlice<UInt8>, keepsRepeated: Bool) throws(Failure) {
        var seen: Set<String> = []
        var count = 0
        var start = form.startIndex
        while start < form.endIndex {
            let end = form[start...].firstIndex(of: UInt8(ascii: "&")) ?? form.endIndex
            let pair = form[start..<end]
            start = end < form.endIndex ? end + 1 : end
            if pair.isEmpty { continue }
            count += 1
            guard count <= Self.maximumCount else { throw .tooMany }
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = try Self.text(pair[..<equals])
            guard name.utf8.count <= Self.maximumNameLength else { throw .nameTooLong }
            let value = equals < pair.endIndex ? try Self.text(pair[(equals + 1)...]) : ""
            let isNew = seen.insert(name).inserted
            if !isNew, !Self.listed.contains(name) {
                guard keepsRepeated else { throw .repeated(Self.printable(name)) }
                repeated.insert(Self.printable(name))
                continue
            }
            if value.isEmpty { continue }
            values[name] = values[name].map { $0 + " " + value } ?? value
        }
    }

    /// Parses a JSON object whose members are the parameters: strings or integers.
    package init(json: [UInt8]) throws(Failure) {
        guard let members = (try? JSONValue(parsing: json))?.objectValue else { throw .notJSON }
        guard members.count <= Self.maximumCount else { throw .tooMany }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            guard name.utf8.count <= Self.maximumNameLength else { throw .nameTooLong }
            switch member {
            case .string(let text):
                guard !text.utf8.contains(0) else { throw .nulByte }
                if !text.isEmpty { values[name] = text }
            case .integer(let number): values[name] = String(number)
            default: throw .noText(Self.printable(name))
            }
        }
    }

    package subscript(name: String) -> String? { values[name] }

    /// Decodes form encoding: `+` is a space, `%XX` a byte. Throws ``Failure`` unless the result is UTF-8 without NUL.
    package static func decode(_ bytes: some Collection<UInt8>) throws(Failure) -> String { try text(Array(bytes)[...]) }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(Failure) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var all: UInt8 = 0
        var iterator = bytes.makeIterator()
        while var byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"): byte = 0x20
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(hexadecimalValue), let low = iterator.next().flatMap(hexadecimalValue) else {
                    throw .badEscape
                }
                byte = high << 4 | low
            default: break
            }
            guard byte != 0 else { throw .nulByte }
            all |= byte
            decoded.append(byte)
        }
        let text = String(decoding: decoded, as: UTF8.self)
        // Decoding replaces invalid UTF-8, which changes the bytes. ASCII, the usual case, needs no check.
        guard all < 0x80 || text.utf8.elementsEqual(decoded) else { throw .notUTF8 }
        return text
    }

    private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns a short lower-case name unchanged, and `…` for any other name, which may contain a secret.
    private static func printable(_ name: String) -> String {
        let isPlain = name.utf8.count <= 40 && name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) }
        return isPlain ? name : "…"
    }
}
