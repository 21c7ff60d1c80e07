/// A JSON value (RFC 8259), read strictly and written in one way only.
///
/// ```swift
/// let claims: JSONValue = ["sub": "00u1", "scp": ["openid", "profile"], "exp": 1_700_000_000]
/// claims["scp"]?[0]?.stringValue  // "openid"
/// ```
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number written without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number; always finite when it was parsed.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; its members have no order.
    case object([String: JSONValue])
}

// MARK: - Reading and writing

extension JSONValue {
    /// What a parser puts up with.
    public struct Limits: Sendable, Hashable {
        /// The longest text, in bytes.
        public var maximumSize: Int
        /// The deepest nesting that anything here reads: each level takes a part of the stack.
        static let deepest = 128

        /// The deepest nesting of arrays and objects; a scalar has depth 0.
        public var maximumDepth: Int

        /// Makes limits.
        ///
        /// - Parameters:
        ///   - maximumSize: The longest text, in bytes; by default 1 MiB.
        ///   - maximumDepth: The deepest nesting of arrays and objects, at most 128; by default 16.
        public init(maximumSize: Int = 1 << 20, maximumDepth: Int = 16) {
            self.maximumSize = maximumSize
            self.maximumDepth = min(maximumDepth, Self.deepest)
        }

        /// 1 MiB, 16 levels.
        public static let standard = Limits()
    }

    /// Parses a JSON text.
    ///
    /// Stricter than RFC 8259 asks for: a member name may occur once per object, the text must be UTF-8 without a byte order
    /// mark and without lone surrogates, and nothing but white space may follow the value.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - limits: The longest and deepest text to accept.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep``.
    public init(parsing bytes: some Collection<UInt8>, limits: Limits = .standard) throws(JOSEError) {
        let result =
            bytes.withContiguousStorageIfAvailable { JSONScanner.parse($0, limits: limits) }
            ?? Array(bytes).withUnsafeBufferPointer { JSONScanner.parse($0, limits: limits) }
        self = try result.get()
    }

    /// Parses a JSON text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limits: The longest and deepest text to accept.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep``.
    public init(parsing text: String, limits: Limits = .standard) throws(JOSEError) {
        try self.init(parsing: text.utf8, limits: limits)
    }

    /// The text of the value in UTF-8: no white space, members ordered by the bytes of their names, so that equal values give
    /// equal texts.
    ///
    /// A number that is not finite, which JSON cannot express, is written as `null`.
    ///
    /// - Returns: The bytes.
    public func serialized() -> [UInt8] {
        var serializer = JSONSerializer()
        serializer.append(self)
        return serializer.bytes
    }

    /// The text of the value, as ``serialized()`` gives it.
    public var serializedString: String { String(decoding: serialized(), as: UTF8.self) }
}

// MARK: - Access

extension JSONValue {
    /// The string, if it is one.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The truth value, if it is one.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number, if it is integral and fits 64 bits.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number, if it is integral and fits an `Int`.
    public var intValue: Int? { integerValue.flatMap { Int(exactly: $0) } }

    /// The number, if it is one; a large integer is rounded.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The elements, if it is an array.
    public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members, if it is an object.
    public var objectValue: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

    /// The elements, if it is an array of strings only.
    public var stringArrayValue: [String]? {
        guard case .array(let elements) = self else { return nil }
        let strings = elements.compactMap(\.stringValue)
        return strings.count == elements.count ? strings : nil
    }

    /// Whether it is `null`.
    public var isNull: Bool { self == .null }

    /// The member of an object.
    ///
    /// Reading gives nil if there is no such member, or this is no object. Writing nil removes the member; writing to what is
    /// no object makes it one.
    ///
    /// - Parameter name: The member's name.
    public subscript(name: String) -> JSONValue? {
        get { if case .object(let members) = self { members[name] } else { nil } }
        set {
            var members = objectValue ?? [:]
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The element of an array; nil if there is none, or this is no array.
    ///
    /// - Parameter index: From 0.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }
}

// MARK: - Literals

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of members with the same name, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }

    /// An array of strings.
    ///
    /// - Parameter strings: The elements.
    public init(_ strings: some Sequence<String>) { self = .array(strings.map(JSONValue.string)) }
}
