/// A CBOR data item (RFC 8949) of the kinds that WebAuthn uses.
package enum CBORValue: Sendable, Hashable {
    /// An integer (major types 0 and 1) that fits in 64 bits with a sign.
    case integer(Int64)
    /// A byte string (major type 2).
    case bytes([UInt8])
    /// A text string (major type 3).
    case text(String)
    /// An array (major type 4).
    case array([CBORValue])
    /// A map (major type 5). Its order is not kept.
    case map([CBORKey: CBORValue])
    /// `true` or `false`.
    case bool(Bool)
    /// `null`.
    case null
    /// `undefined`.
    case undefined
    /// A floating-point number of 2, 4 or 8 bytes. The decoder keeps its bits and does not convert them.
    case float([UInt8])
}

/// A key of a CBOR map. WebAuthn uses integers and texts.
package enum CBORKey: Sendable, Hashable {
    /// An integer, as in COSE keys.
    case integer(Int64)
    /// A text, as in attestation objects.
    case text(String)
}

/// The reason why bytes are rejected as CBOR.
package enum CBORError: Error, Sendable, Hashable {
    /// The input is longer than the limit.
    case tooLarge
    /// Arrays and maps are nested deeper than the limit.
    case tooDeep
    /// The input has more data items than the limit.
    case tooManyItems
    /// The input ends inside a data item.
    case truncated
    /// A string, array or map has no definite length.
    case indefiniteLength
    /// The additional information of an initial byte is reserved (28 to 30).
    case reserved
    /// The input contains a tag (major type 6).
    case tagged
    /// The input contains an unassigned simple value.
    case unknownSimpleValue
    /// An integer does not fit in 64 bits with a sign.
    case integerTooLarge
    /// A text is not UTF-8.
    case invalidText
    /// A key is neither an integer nor a text of at most ``CBORDecoder/maximumKeySize`` bytes.
    case invalidKey
    /// A map contains a key twice.
    case duplicateKey
    /// Bytes follow the data item.
    case trailingBytes(count: Int)
}

extension CBORValue {
    /// Decodes one data item, which must be the whole input.
    package init(decoding bytes: some Collection<UInt8>, limits: CBORDecoder.Limits = .standard) throws(CBORError) {
        let input = Array(bytes)
        let (value, count) = try Self.decodePrefix(of: input[...], limits: limits)
        guard count == input.count else { throw .trailingBytes(count: input.count - count) }
        self = value
    }

    /// Decodes the data item at the start of the input.
    /// - Returns: The data item and its length in bytes.
    package static func decodePrefix(
        of bytes: ArraySlice<UInt8>, limits: CBORDecoder.Limits = .standard
    ) throws(CBORError) -> (value: CBORValue, count: Int) {
        guard bytes.count <= limits.maximumSize else { throw .tooLarge }
        var decoder = CBORDecoder(bytes, limits: limits)
        let value = try decoder.decode(depth: 0)
        return (value, bytes.count - decoder.remainder.count)
    }

    /// The integer, or `nil` for other types.
    package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The bytes, or `nil` for other types.
    package var bytesValue: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }

    /// The text, or `nil` for other types.
    package var textValue: String? { if case .text(let value) = self { value } else { nil } }

    /// The elements of an array, or `nil` for other types.
    package var arrayValue: [CBORValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members of a map, or `nil` for other types.
    package var mapValue: [CBORKey: CBORValue]? { if case .map(let value) = self { value } else { nil } }

    /// The map's value for a text key; `nil` if the value is no map or does not have the key.
    package subscript(key: String) -> CBORValue? { mapValue?[.text(key)] }

    /// The map's value for an integer key; `nil` if the value is no map or does not have the key.
    package subscript(key: Int64) -> CBORValue? { mapValue?[.integer(key)] }
}

/// A bounded decoder of CBOR (RFC 8949).
/// Like the CTAP2 canonical form, it rejects indefinite lengths, tags and duplicate keys. It accepts every key order and heads that are
/// longer than necessary: some password managers write them, and each input still has one meaning. Time and memory are proportional to the
/// size of the input, because a length is compared with the remaining bytes before anything is allocated.
package struct CBORDecoder: Sendable {
    /// The limits of one decoding.
    package struct Limits: Sendable, Hashable {
        /// The maximum size of the input in bytes.
        package var maximumSize: Int
        /// The maximum nesting of arrays and maps. A scalar has depth 0.
        package var maximumDepth: Int
        /// The maximum number of data items. The keys and values of maps count separately.
        package var maximumItems: Int

        /// Creates limits.
        package init(maximumSize: Int = 64 << 10, maximumDepth: Int = 8, maximumItems: Int = 1024) {
            self.maximumSize = maximumSize
            self.maximumDepth = maximumDepth
            self.maximumItems = maximumItems
        }

        /// 64 KiB, 8 levels and 1024 data items.
        package static let standard = Limits()
    }

    /// The maximum size of a text key in bytes. Identifiers of formats and extensions have at most 32 bytes. Hashing a long text with many
    /// combining marks takes quadratic time.
    package static let maximumKeySize = 128

    fileprivate private(set) var remainder: ArraySlice<UInt8>
    private let maximumDepth: Int
    private var itemsLeft: Int

    fileprivate init(_ bytes: ArraySlice<UInt8>, limits: Limits) {
        remainder = bytes
        maximumDepth = limits.maximumDepth
        itemsLeft = limits.maximumItems
    }

    /// Decodes the next data item. `depth` is the number of arrays and maps around it.
    fileprivate mutating func decode(depth: Int) throws(CBORError) -> CBORValue {
        guard itemsLeft > 0 else { throw .tooManyItems }
        itemsLeft -= 1
        guard let initial = remainder.popFirst() else { throw .truncated }
        let information = initial & 0x1F
        switch initial >> 5 {
        case 0: return .integer(try integer(information))
        // -1 - n of a 64-bit n never overflows (RFC 8949 §3.1).
        case 1: return .integer(-1 - (try integer(information)))
        case 2: return .bytes(Array(try string(information)))
        case 3: return .text(try text(information))
        case 4:
            let count = try length(information)
            guard depth < maximumDepth else { throw .tooDeep }
            var elements: [CBORValue] = []
            elements.reserveCapacity(min(count, itemsLeft))
            for _ in 0..<count { elements.append(try decode(depth: depth + 1)) }
            return .array(elements)
        case 5: return .map(try map(count: try length(information), depth: depth))
        case 6: throw .tagged
        default: return try simple(information)
        }
    }

    /// Reads the argument of a head (RFC 8949 §3).
    private mutating func argument(_ information: UInt8) throws(CBORError) -> UInt64 {
        switch information {
        case 0..<24: return UInt64(information)
        case 24...27: return try take(1 << Int(information - 24)).reduce(0) { $0 << 8 | UInt64($1) }
        case 31: throw .indefiniteLength
        default: throw .reserved
        }
    }

    private mutating func integer(_ information: UInt8) throws(CBORError) -> Int64 {
        guard let value = Int64(exactly: try argument(information)) else { throw .integerTooLarge }
        return value
    }

    /// Reads a length. Each byte, element or member needs at least one byte of the input.
    private mutating func length(_ information: UInt8) throws(CBORError) -> Int {
        guard let count = Int(exactly: try argument(information)), count <= remainder.count else { throw .truncated }
        return count
    }

    private mutating func take(_ count: Int) throws(CBORError) -> ArraySlice<UInt8> {
        guard count <= remainder.count else { throw .truncated }
        defer { remainder = remainder.dropFirst(count) }
        return remainder.prefix(count)
    }

    private mutating func string(_ information: UInt8) throws(CBORError) -> ArraySlice<UInt8> { try take(try length(information)) }

    private mutating func text(_ information: UInt8) throws(CBORError) -> String {
        let bytes = try string(information)
        // Invalid UTF-8 is replaced, so that the text has other bytes. `String(validating:as:)` needs a later system.
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { throw .invalidText }
        return text
    }

    private mutating func map(count: Int, depth: Int) throws(CBORError) -> [CBORKey: CBORValue] {
        guard depth < maximumDepth else { throw .tooDeep }
        var members: [CBORKey: CBORValue] = [:]
        for _ in 0..<count {
            let key: CBORKey
            switch try decode(depth: depth + 1) {
            case .integer(let value): key = .integer(value)
            case .text(let value) where value.utf8.count <= Self.maximumKeySize: key = .text(value)
            default: throw .invalidKey
            }
            guard members.updateValue(try decode(depth: depth + 1), forKey: key) == nil else { throw .duplicateKey }
        }
        return members
    }

    private mutating func simple(_ information: UInt8) throws(CBORError) -> CBORValue {
        switch information {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 23: return .undefined
        case 25...27: return .float(Array(try take(1 << Int(information - 24))))
        case 31: throw .indefiniteLength
        case 28...30: throw .reserved
        default: throw .unknownSimpleValue
        }
    }
}
