import Foundation

/// A reader of binary property lists with references of keyed archives (UIDs), for data that an attacker may have changed.
///
/// The reader reads one object at a time and follows no reference by itself, so that neither a cycle nor deep nesting costs more than a
/// lookup. Many references can point to one large object, and objects can overlap, so all reads together have a limit.
/// Foundation's `NSKeyedUnarchiver` is not used: on Linux, hostile archives crash the process whatever its failure policy is, for example
/// with a cycle or with a class that is not a dictionary.
struct BinaryPropertyList: Sendable {
    /// The largest accepted size in bytes: 1 MiB.
    static let maximumSize = 1 << 20
    /// The largest accepted number of objects, and of elements of a collection. Archives of a session have about 200.
    static let maximumCount = 10_000

    /// The largest accepted sum of the sizes of all reads in bytes, several times that of any archive of a session.
    static let maximumReads = 4 << 20
    /// The bytes of the limit that each read uses in addition to the content of the object.
    private static let readCost = 16

    /// The reason why the reader rejects data.
    enum Failure: Error, Equatable {
        /// The data is too large, or the reads have reached their limit.
        case tooLarge
        case malformed
    }

    /// An object. Collections contain the numbers of their elements.
    enum Object: Sendable {
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case data(Data)
        case string(String)
        /// A reference of a keyed archive: an index of its list of objects.
        case uid(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    private let bytes: [UInt8]
    /// The bytes that further reads can use; negative after a read that exceeded the limit.
    private let remaining = Locked(maximumReads)
    /// The positions of the objects.
    private let places: [Int]
    private let referenceSize: Int
    /// The number of the root object.
    let root: Int

    /// Reads the table of objects.
    init(_ data: Data) throws(Failure) {
        guard data.count <= Self.maximumSize else { throw .tooLarge }
        bytes = [UInt8](data)
        guard bytes.count >= 40, bytes.starts(with: Array("bplist00".utf8)) else { throw .malformed }
        let trailer = bytes.count - 32
        let placeSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(placeSize), (1...8).contains(referenceSize) else { throw .malformed }
        let count = try Self.position(bytes, at: trailer + 8, size: 8)
        root = try Self.position(bytes, at: trailer + 16, size: 8)
        let table = try Self.position(bytes, at: trailer + 24, size: 8)
        guard (1...Self.maximumCount).contains(count), root < count, table >= 8, table <= trailer, count * placeSize <= trailer - table
        else {
            throw .malformed
        }
        var places: [Int] = []
        for index in 0..<count {
            let place = try Self.position(bytes, at: table + index * placeSize, size: placeSize)
            guard place >= 8, place < table else { throw .malformed }
            places.append(place)
        }
        self.places = places
    }

    /// Whether a read was refused because of the limit of all reads.
    var isExhausted: Bool { remaining.withLock { $0 < 0 } }

    private func spend(_ size: Int) throws(Failure) {
        let isExhausted = remaining.withLock { remaining in
            // Stays negative, so that no smaller read succeeds afterwards.
            if remaining >= 0 { remaining -= size }
            return remaining < 0
        }
        if isExhausted { throw .tooLarge }
    }

    /// Returns the object with this number.
    func object(_ number: Int) throws(Failure) -> Object {
        guard places.indices.contains(number) else { throw .malformed }
        try spend(Self.readCost)
        let place = places[number]
        let (kind, low) = (bytes[place] >> 4, Int(clamping: bytes[place] & 0x0F))
        switch kind {
        case 0x0: return try bool(low)
        case 0x1: return .integer(try integer(at: place))
        case 0x2: return .real(try real(at: place + 1, power: low))
        case 0x4: return .data(Data(try slice(at: place, unit: 1)))
        case 0x5: return .string(try ascii(slice(at: place, unit: 1)))
        case 0x6: return .string(try utf16(slice(at: place, unit: 2)))
        case 0x8: return .uid(try position(at: place + 1, size: low + 1))
        case 0xA: return .array(try references(at: place, perElement: 1))
        case 0xD:
            let all = try references(at: place, perElement: 2)
            let half = all.count / 2
            return .dictionary((0..<half).map { (all[$0], all[half + $0]) })
        // Nulls, dates and sets do not occur in keyed archives.
        default: throw .malformed
        }
    }

    private func bool(_ low: Int) throws(Failure) -> Object {
        switch low {
        case 8: return .bool(false)
        case 9: return .bool(true)
        default: throw .malformed
        }
    }

    private func ascii(_ text: ArraySlice<UInt8>) throws(Failure) -> String {
        guard text.allSatisfy({ $0 < 0x80 }) else { throw .malformed }
        return String(decoding: text, as: UTF8.self)
    }

    private func utf16(_ text: ArraySlice<UInt8>) -> String {
        let units = stride(from: text.startIndex, to: text.endIndex, by: 2).map { UInt16(text[$0]) << 8 | UInt16(text[$0 + 1]) }
        return String(decoding: units, as: UTF16.self)
    }

    private func integer(at place: Int) throws(Failure) -> Int64 {
        let power = Int(clamping: bytes[place] & 0x0F)
        guard power <= 3 else { throw .malformed }
        // Eight bytes are signed, fewer are not.
        return Int64(bitPattern: try bits(at: place + 1, size: 1 << power))
    }

    private func real(at place: Int, power: Int) throws(Failure) -> Double {
        switch power {
        case 2: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: try bits(at: place, size: 4))))
        case 3: return Double(bitPattern: try bits(at: place, size: 8))
        default: throw .malformed
        }
    }

    /// The numbers of a collection's elements; for a dictionary, first those of the keys.
    private func references(at place: Int, perElement: Int) throws(Failure) -> [Int] {
        let content = try slice(at: place, unit: referenceSize * perElement)
        try spend(content.count / referenceSize * MemoryLayout<Int>.size)
        guard content.count <= Self.maximumCount * referenceSize * perElement else { throw .malformed }
        var numbers: [Int] = []
        for start in stride(from: content.startIndex, to: content.endIndex, by: referenceSize) {
            numbers.append(try position(at: start, size: referenceSize))
        }
        return numbers
    }

    /// The content of an object with a length: `unit` bytes for each of its elements.
    private func slice(at place: Int, unit: Int) throws(Failure) -> ArraySlice<UInt8> {
        var (start, count) = (place + 1, Int(clamping: bytes[place] & 0x0F))
        if count == 0x0F {
            guard start < bytes.count, bytes[start] >> 4 == 0x1 else { throw .malformed }
            let length = try integer(at: start)
            start += 1 + (1 << Int(clamping: bytes[start] & 0x0F))
            guard let long = Int(exactly: length), long >= 0 else { throw .malformed }
            count = long
        }
        let (size, overflows) = count.multipliedReportingOverflow(by: unit)
        guard !overflows, start <= bytes.count, size <= bytes.count - start else { throw .malformed }
        try spend(size)
        return bytes[start..<start + size]
    }

    private func bits(at place: Int, size: Int) throws(Failure) -> UInt64 { try Self.bits(bytes, at: place, size: size) }

    private func position(at place: Int, size: Int) throws(Failure) -> Int { try Self.position(bytes, at: place, size: size) }

    private static func bits(_ bytes: [UInt8], at place: Int, size: Int) throws(Failure) -> UInt64 {
        guard place >= 0, (1...8).contains(size), place <= bytes.count - size else { throw .malformed }
        return bytes[place..<place + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func position(_ bytes: [UInt8], at place: Int, size: Int) throws(Failure) -> Int {
        guard let position = Int(exactly: try bits(bytes, at: place, size: size)) else { throw .malformed }
        return position
    }
}
