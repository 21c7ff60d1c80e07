import Foundation

/// The objects that `NSKeyedArchiver` wrote, read by key and without creating any class of the archive.
///
/// A caller names each member that it wants. References are followed one at a time, so that an archive with a cycle has only members that
/// the caller did not ask for.
struct KeyedArchive: Sendable {
    private let list: BinaryPropertyList
    /// The numbers of the archived objects, by the index that references use.
    private let objects: [Int]
    private let rootIndex: Int

    /// Reads an archive.
    /// - Throws: ``Migration/SkipReason`` if the data is too large or is no keyed archive in binary form.
    init(_ data: Data) throws(Migration.SkipReason) {
        do throws(BinaryPropertyList.Failure) {
            list = try BinaryPropertyList(data)
            let top = try Self.members(of: list.root, in: list)
            guard let version = top["$version"], case .integer(100_000) = try list.object(version),
                let archiver = top["$archiver"], case .string("NSKeyedArchiver") = try list.object(archiver),
                let entries = top["$objects"], case .array(let objects) = try list.object(entries),
                let roots = top["$top"], let root = try Self.members(of: roots, in: list)["root"],
                case .uid(let index) = try list.object(root)
            else { throw BinaryPropertyList.Failure.malformed }
            (self.objects, rootIndex) = (objects, index)
        } catch {
            throw error == .tooLarge ? Migration.SkipReason.tooLarge : .unreadable
        }
    }

    /// The root object; `nil` if the root is no object with a class.
    var root: Object? { object(at: rootIndex) }

    /// Reads an archive whose members the caller takes from the root.
    /// - Throws: ``Migration/SkipReason``: the errors of ``init(_:)`` and of `body`; ``Migration/SkipReason/unreadable`` if the root is no
    ///   object; ``Migration/SkipReason/tooLarge`` if the archive expands to far more data than a session has. Members that were not read
    ///   are then missing, so the result of `body` is not used.
    static func read<Value>(
        _ data: Data, _ body: (Object) throws(Migration.SkipReason) -> Value
    ) throws(Migration.SkipReason) -> Value {
        let archive = try KeyedArchive(data)
        let result: Result<Value, Migration.SkipReason>
        do throws(Migration.SkipReason) {
            guard let root = archive.root else { throw .unreadable }
            result = .success(try body(root))
        } catch {
            result = .failure(error)
        }
        guard !archive.list.isExhausted else { throw .tooLarge }
        return try result.get()
    }

    /// An archived object with a class.
    struct Object: Sendable {
        fileprivate let archive: KeyedArchive
        fileprivate let members: [String: Int]
        /// The names of the class and its superclasses, without the name of a Swift module.
        let classNames: [String]

        /// Whether the class, or one of its superclasses, has one of the names.
        func isOf(_ names: Set<String>) -> Bool { classNames.contains(where: names.contains) }
    }

    // MARK: - References

    fileprivate func object(at index: Int) -> Object? {
        guard let members = members(at: index), let reference = members["$class"], let names = classNames(of: reference) else { return nil }
        return Object(archive: self, members: members, classNames: names)
    }

    private func members(at index: Int) -> [String: Int]? {
        // Index 0 is the archived nil.
        guard index > 0, objects.indices.contains(index) else { return nil }
        return try? Self.members(of: objects[index], in: list)
    }

    private func classNames(of reference: Int) -> [String]? {
        guard case .uid(let index) = try? list.object(reference), let description = members(at: index) else { return nil }
        var names: [String] = []
        if let number = description["$classname"], case .string(let name) = try? list.object(number) { names.append(name) }
        if let number = description["$classes"], case .array(let elements) = try? list.object(number) {
            for element in elements.prefix(16) {
                if case .string(let name) = try? list.object(element) { names.append(name) }
            }
        }
        return names.isEmpty ? nil : names.map { name in name.split(separator: ".").last.map(String.init) ?? name }
    }

    /// The value that an object's member refers to, or the value itself if it is stored in place.
    fileprivate func value(_ number: Int) -> BinaryPropertyList.Object? {
        guard let value = try? list.object(number) else { return nil }
        guard case .uid(let index) = value else { return value }
        guard index > 0, objects.indices.contains(index) else { return nil }
        return try? list.object(objects[index])
    }

    fileprivate func target(_ number: Int) -> Int? {
        guard case .uid(let index) = try? list.object(number) else { return nil }
        return index
    }

    /// The members of a dictionary by name. Entries whose key is no string are left out.
    private static func members(of number: Int, in list: BinaryPropertyList) throws(BinaryPropertyList.Failure) -> [String: Int] {
        guard case .dictionary(let entries) = try list.object(number) else { throw .malformed }
        var members: [String: Int] = [:]
        for entry in entries {
            if case .string(let name) = try list.object(entry.key) { members[name] = entry.value }
        }
        return members
    }
}

// MARK: - Members of an object

extension KeyedArchive.Object {
    /// The objects that are direct members.
    var children: [KeyedArchive.Object] {
        members.keys.sorted().filter { $0 != "$class" }.compactMap { object($0) }
    }

    func object(_ key: String) -> KeyedArchive.Object? {
        members[key].flatMap(archive.target).flatMap(archive.object(at:))
    }

    func string(_ key: String) -> String? {
        guard let number = members[key] else { return nil }
        return text(number)
    }

    func bool(_ key: String) -> Bool {
        guard let number = members[key], case .bool(let value) = archive.value(number) else { return false }
        return value
    }

    /// Whether the member is an object or a value, and not the archived nil.
    func has(_ key: String) -> Bool { members[key].flatMap(archive.value) != nil }

    /// A date of the class `NSDate`.
    func date(_ key: String) -> Date? {
        guard let date = object(key), date.isOf(["NSDate"]), let number = date.members["NS.time"] else { return nil }
        switch archive.value(number) {
        case .real(let seconds) where seconds.isFinite && abs(seconds) < 1e11: return Date(timeIntervalSinceReferenceDate: seconds)
        case .integer(let seconds) where seconds.magnitude < 100_000_000_000:
            return Date(timeIntervalSinceReferenceDate: TimeInterval(seconds))
        default: return nil
        }
    }

    /// A URL of the class `NSURL`, with a base of at most four levels.
    func url(_ key: String) -> URL? { object(key)?.url(levels: 4) }

    private func url(levels: Int) -> URL? {
        guard levels > 0, isOf(["NSURL"]), let text = string("NS.relative") else { return nil }
        guard let base = object("NS.base") else { return URL(string: text) }
        return base.url(levels: levels - 1).flatMap { URL(string: text, relativeTo: $0)?.absoluteURL }
    }

    /// The strings of a dictionary.
    func strings(_ key: String) -> [String: String] {
        guard let object = object(key), object.isOf(["NSDictionary"]) else { return [:] }
        return object.ownStrings
    }

    /// The strings of an object that is archived like a dictionary, such as AppAuth's discovery document.
    var ownStrings: [String: String] { entries?.compactMapValues(text) ?? [:] }

    /// The members of a dictionary as JSON; `nil` if it contains other values than those of JSON, or too many.
    func json(_ key: String) -> [String: JSON]? {
        var budget = 2_000
        guard let object = object(key), object.isOf(["NSDictionary"]) else { return nil }
        return object.jsonMembers(depth: 16, &budget)
    }

    // MARK: - Collections and values

    /// The entries of a dictionary; `nil` for another object, and for a dictionary with other keys than strings.
    private var entries: [String: Int]? {
        guard let keys = numbers("NS.keys"), let values = numbers("NS.objects"), keys.count == values.count else {
            return nil
        }
        var entries: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            guard let name = text(key) else { return nil }
            entries[name] = value
        }
        return entries
    }

    private func numbers(_ key: String) -> [Int]? {
        guard let number = members[key], case .array(let numbers) = archive.value(number) else { return nil }
        return numbers
    }

    /// A string: stored directly, or as an object of the class `NSString`.
    private func text(_ number: Int) -> String? {
        if case .string(let text) = archive.value(number) { return text }
        guard let object = archive.target(number).flatMap(archive.object(at:)), object.isOf(["NSString"]),
            let content = object.members["NS.string"], case .string(let text) = archive.value(content)
        else { return nil }
        return text
    }

    private func jsonMembers(depth: Int, _ budget: inout Int) -> [String: JSON]? {
        guard let entries else { return nil }
        var members: [String: JSON] = [:]
        for (name, number) in entries {
            guard let value = jsonValue(number, depth: depth, &budget) else { return nil }
            members[name] = value
        }
        return members
    }

    private func jsonValue(_ number: Int, depth: Int, _ budget: inout Int) -> JSON? {
        budget -= 1
        guard depth > 0, budget > 0 else { return nil }
        if let text = text(number) { return .string(text) }
        switch archive.value(number) {
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return value.isFinite ? .number(value) : nil
        default: break
        }
        guard let object = archive.target(number).flatMap(archive.object(at:)) else { return nil }
        if object.isOf(["NSDictionary"]) { return object.jsonMembers(depth: depth - 1, &budget).map(JSON.object) }
        if object.isOf(["NSNull"]) { return .null }
        guard object.isOf(["NSArray"]), let elements = object.numbers("NS.objects") else { return nil }
        var values: [JSON] = []
        for element in elements {
            guard let value = object.jsonValue(element, depth: depth - 1, &budget) else { return nil }
            values.append(value)
        }
        return .array(values)
    }
}
