/// A record's declared keys as one text beside it, so that reading a record asks one table.
///
/// Each key is `u` or `i`, its name, and its value's length in bytes before the value: values may hold anything.
struct StoredKeys: Equatable {
    var unique: [String: String]
    var indexed: [String: String]

    init(unique: [String: String], indexed: [String: String]) {
        self.unique = unique
        self.indexed = indexed
    }

    init(_ text: String) {
        unique = [:]
        indexed = [:]
        var rest = text.utf8[...]
        while let kind = rest.popFirst(), let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: rest[..<colon], as: UTF8.self)
            rest = rest[rest.index(after: colon)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ":")),
                let length = Int(String(decoding: rest[..<end], as: UTF8.self))
            else { return }
            rest = rest[rest.index(after: end)...]
            let value = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
            if kind == UInt8(ascii: "u") { unique[name] = value } else { indexed[name] = value }
        }
    }

    var text: String {
        let parts = unique.map { ("u", $0.key, $0.value) } + indexed.map { ("i", $0.key, $0.value) }
        return parts.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { "\($0.0)\($0.1):\($0.2.utf8.count):\($0.2)" }.joined()
    }
}
