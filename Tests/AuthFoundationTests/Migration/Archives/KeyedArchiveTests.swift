import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Keyed archives")
struct KeyedArchiveTests {
    private func reason(_ data: Data) -> Migration.SkipReason.Code? {
        do throws(Migration.SkipReason) {
            _ = try KeyedArchive(data)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Strings, dates, URLs with a base, numbers, nils and shared references are read")
    func members() throws {
        let root = try #require(try KeyedArchive(OktaOIDCArchive.current.data).root)
        #expect(root.isOf(["OktaOidcStateManager"]) && root.string("accessibility") == "aku")
        let state = try #require(root.object("authState"))
        #expect(state.isOf(["OKTAuthState"]) && !state.bool("needsTokenRefresh") && !state.has("authorizationError"))
        let response = try #require(state.object("lastTokenResponse"))
        #expect(response.date("expires_in") == Date(timeIntervalSinceReferenceDate: 821_696_400.5))
        #expect(response.string("refresh_token") == "refresh-1" && response.has("refresh_token"))
        let request = try #require(response.object("request"))
        #expect(request.string("client_secret") == nil && !request.has("client_secret"))
        let settings = try #require(request.object("configuration"))
        #expect(settings.url("issuer")?.absoluteString == MigrationFixture.issuer)
        #expect(settings.url("tokenEndpoint")?.absoluteString == "\(MigrationFixture.issuer)/v1/token")
        #expect(settings.url("registrationEndpoint") == nil && settings.string("issuer") == nil)
        #expect(settings.object("discoveryDocument")?.ownStrings["token_endpoint"] == "\(MigrationFixture.issuer)/v1/token")
        #expect(state.object("lastAuthorizationResponse")?.object("request")?.object("configuration") != nil)
    }

    @Test("The JSON members of a response keep their types")
    func json() throws {
        let root = try #require(try KeyedArchive(AppAuthArchive.complete.data).root)
        let parameters = try #require(root.object("lastTokenResponse")?.json("additionalParameters"))
        let expected = #"{"list":[1,true,"x",2.5],"empty":{}}"#
        #expect(try parameters["custom"] == JSON(expected) && parameters["device_secret"] == JSON(#""device-1""#))
    }

    /// A stand-in for Foundation's unarchiver, which decodes the members that this package reads.
    final class StandIn: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        let values: [String: String]
        let date: Date?

        required init?(coder: NSCoder) {
            var values: [String: String] = [:]
            for key in ["accessToken", "tokenType", "refreshToken", "idToken", "scope"] {
                values[key] = coder.decodeObject(of: NSString.self, forKey: key) as String?
            }
            self.values = values
            date = coder.decodeObject(of: NSDate.self, forKey: "expiresIn") as Date?
        }

        func encode(with coder: NSCoder) {}
    }

    @Test("Foundation's unarchiver reads the same values from the archives of these tests", arguments: Auth0Archive.allCases)
    func foundation(archive: Auth0Archive) throws {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive.data)
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        unarchiver.setClass(StandIn.self, forClassName: "A0Credentials")
        let theirs = try #require(unarchiver.decodeObject(of: StandIn.self, forKey: NSKeyedArchiveRootObjectKey))
        unarchiver.finishDecoding()
        let ours = try #require(try KeyedArchive(archive.data).root)
        for key in ["accessToken", "tokenType", "refreshToken", "idToken", "scope"] { #expect(ours.string(key) == theirs.values[key]) }
        #expect(ours.date("expiresIn") == theirs.date && theirs.date != nil)
    }

    // MARK: - Hostile data

    @Test(
        "Damaged, truncated, foreign and XML archives are refused, or only their usable members are read",
        arguments: HostileArchive.allCases)
    func hostile(archive: HostileArchive) throws {
        let source = Auth0Source(location: .data(archive.data, name: "x"), expected: .init(clientId: "app"))
        let found = try #require(try source.find().first)
        let now = ManualClock.start
        switch archive {
        case .cycleOfClass, .dateInfinite, .dateNotANumber, .dateOfString, .dateVast, .dateVastInteger, .dateWithoutTime, .danglingClass,
            .stringForDate:
            // The date is left out, and the tokens are usable. Without an ID token, the issuer is that of the app.
            let draft = try Auth0Source(location: source.location, expected: .init(issuer: url("https://x.example.com"), clientId: "app"))
                .decode(archive.data, of: found, now: now)
            #expect(draft.token.accessToken == "access-1" && draft.token.refreshToken == "refresh-1" && draft.expiresAt == nil)
            #expect(draft.token.expiresIn == 0)
        case .cycleOfMember, .danglingMember, .hugeReference, .vastReference, .inlineNumber, .numberForString, .dictionaryForString:
            // The access token is left out, and there is no other one.
            #expect(throws: Migration.SkipReason(.incomplete, "")) { try source.decode(archive.data, of: found, now: now) }
        case .inlineString:
            #expect(try KeyedArchive(archive.data).root?.string("accessToken") == "inline")
        default:
            #expect(throws: Migration.SkipReason.unreadable) { try source.decode(archive.data, of: found, now: now) }
        }
    }

    @Test("Members of a response that are cyclic, too deep, too many or malformed are left out", arguments: HostileParameters.allCases)
    func parameters(archive: HostileParameters) throws {
        let draft = try AuthStateArchive.appAuth(archive.data)
        #expect(draft.accessToken == "token-1" && draft.clientId == MigrationFixture.client && draft.members.isEmpty)
    }

    @Test("A URL whose base is the URL itself is not read")
    func cyclicURL() throws {
        let root = try #require(try KeyedArchive(HostileParameters.urlBaseCycle.data).root)
        let response = try #require(root.object("lastTokenResponse"))
        #expect(response.object("additionalParameters")?.isOf(["NSURL"]) == true && response.url("additionalParameters") == nil)
    }

    @Test("Data of more than 1 MiB is refused before it is parsed")
    func size() throws {
        let good = Auth0Archive.complete.data
        #expect(reason(Data(repeating: 7, count: 2 << 20)) == .tooLarge)
        #expect(reason(good + Data(repeating: 0, count: (1 << 20) - good.count + 1)) == .tooLarge)
        #expect(reason(Data(repeating: 7, count: 1 << 20)) == .unreadable)
        #expect(reason(good) == nil)
    }

    /// Writes an archive of OktaAuth whose `config` is a dictionary with many references to one long string.
    private func bomb(references: Int, length: Int) -> Data {
        var list = PropertyListWriter()
        let long = list.add(text: String(repeating: "a", count: length))
        let null = list.add(text: "$null")
        func type(_ name: String) -> Int { list.add(["$classname": list.add(text: name), "$classes": list.add([list.add(text: name)])]) }
        let classes = ["OktaTokenManager", "OIDAuthState", "NSDictionary"].map(type)
        // References of the archive: null 0, root 1, state 2, config 3, classes 4 to 6, long string 7, keys from 8.
        let keys = (0..<references).map { list.add(text: "k\($0)") }
        let root = list.add(["$class": list.add(uid: 4), "authState": list.add(uid: 2), "config": list.add(uid: 3)])
        let state = list.add(["$class": list.add(uid: 5), "lastTokenResponse": list.add(uid: 3)])
        let value = list.add(uid: 7)
        let config = list.add([
            "$class": list.add(uid: 6), "NS.keys": list.add(keys.indices.map { list.add(uid: 8 + $0) }),
            "NS.objects": list.add([Int](repeating: value, count: references)),
        ])
        let objects = list.add([null, root, state, config] + classes + [long] + keys)
        let top = list.add([
            "$version": list.add(integer: 100_000), "$archiver": list.add(text: "NSKeyedArchiver"),
            "$top": list.add(["root": list.add(uid: 1)]), "$objects": objects,
        ])
        return list.data(root: top)
    }

    @Test("An archive whose references expand it to more than 4 MiB is refused, and a smaller one is read")
    func bombs() throws {
        func reason(_ data: Data) -> Migration.SkipReason.Code? {
            do throws(Migration.SkipReason) {
                _ = try AuthStateArchive.oktaOIDC(data)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(reason(bomb(references: 10, length: 1_000)) == nil)
        #expect(reason(bomb(references: 10, length: 300_000)) == nil)
        #expect(reason(bomb(references: 20, length: 300_000)) == .tooLarge)
        #expect(reason(bomb(references: 2_000, length: 900_000)) == .tooLarge)
    }

    @Test("After the reads of a property list have reached their limit, every read fails")
    func reads() throws {
        var writer = PropertyListWriter()
        let number = writer.add(text: String(repeating: "a", count: 1_000_000))
        let small = writer.add(text: "b")
        let list = try BinaryPropertyList(writer.data(root: number))
        for _ in 0..<4 { _ = try list.object(number) }
        #expect(!list.isExhausted)
        #expect(throws: BinaryPropertyList.Failure.tooLarge) { try list.object(number) }
        #expect(throws: BinaryPropertyList.Failure.tooLarge) { try list.object(small) }
        #expect(list.isExhausted)
    }

    @Test("A table with more than 10,000 objects, and a collection with more elements, are refused")
    func count() throws {
        func list(objects: Int, elements: Int) -> Data {
            var data = Data("bplist00".utf8)
            var offsets = [UInt8]()
            func append(_ bytes: [UInt8]) {
                offsets += [UInt8(data.count >> 16), UInt8(data.count >> 8 & 0xFF), UInt8(data.count & 0xFF)]
                data += bytes
            }
            let count = [0xAF, 0x12] + (0..<4).reversed().map { UInt8(elements >> ($0 * 8) & 0xFF) }
            append(count + [UInt8](repeating: 0, count: elements * 2))
            for _ in 1..<objects { append([0x09]) }
            let table = data.count
            data += offsets
            func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }
            return data + [0, 0, 0, 0, 0, 0, 3, 2] + number(objects) + number(0) + number(table)
        }
        let most = try BinaryPropertyList(list(objects: 10_000, elements: 10_000))
        guard case .array(let elements) = try most.object(0) else {
            Issue.record("The object is no array.")
            return
        }
        #expect(elements.count == 10_000)
        #expect(throws: BinaryPropertyList.Failure.malformed) { try BinaryPropertyList(list(objects: 10_001, elements: 1)) }
        #expect(throws: BinaryPropertyList.Failure.malformed) {
            try BinaryPropertyList(list(objects: 1, elements: 10_001)).object(0)
        }
    }

    @Test("A truncated archive is refused, and no change of bytes makes the reader crash")
    func changes() throws {
        let good = AppAuthArchive.complete.data
        for length in stride(from: 0, to: good.count, by: 7) {
            #expect(throws: Migration.SkipReason.unreadable) { try AuthStateArchive.appAuth(good.prefix(length)) }
        }
        var random = SeededBytes(seed: 2027)
        for _ in 0..<1_500 {
            var changed = good
            for _ in 0...random.next(below: 3) { changed[random.next(below: changed.count)] = UInt8(random.next(below: 256)) }
            guard let draft = try? AuthStateArchive.appAuth(changed) else { continue }
            _ = try? draft.session(id: "x", now: ManualClock.start, .init())
        }
    }

    /// Pseudorandom numbers that are the same in each run (Knuth, "MMIX" constants).
    private struct SeededBytes {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    @Test("UTF-16 strings, numbers of each size, data and booleans are read from a property list")
    func values() throws {
        let list: [String: Any] = [
            "text": "Zoë 日本 🎉", "long": String(repeating: "a", count: 300), "small": 200, "negative": -3, "large": 1 << 40,
            "real": 1.5, "data": Data([1, 2, 3]), "yes": true, "no": false,
        ]
        let read = try BinaryPropertyList(PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
        guard case .dictionary(let entries) = try read.object(read.root) else {
            Issue.record("The root is no dictionary.")
            return
        }
        var found: [String: String] = [:]
        for entry in entries {
            guard case .string(let key) = try read.object(entry.key) else { continue }
            found[key] = "\(try read.object(entry.value))"
        }
        #expect(found["text"] == #"string("Zoë 日本 🎉")"# && found["long"] == "string(\"\(String(repeating: "a", count: 300))\")")
        #expect(found["small"] == "integer(200)" && found["negative"] == "integer(-3)" && found["large"] == "integer(1099511627776)")
        #expect(
            found["real"] == "real(1.5)" && found["data"] == "data(3 bytes)" && found["yes"] == "bool(true)" && found["no"] == "bool(false)"
        )
    }
}

/// A writer of binary property lists with references of keyed archives, which Foundation's writer does not write.
private struct PropertyListWriter {
    private var bytes = Data("bplist00".utf8)
    private var places: [Int] = []

    private mutating func add(_ object: [UInt8]) -> Int {
        places.append(bytes.count)
        bytes += object
        return places.count - 1
    }

    private static func big(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] { [kind << 4 | 0xF, 0x12] + big(count, 4) }

    mutating func add(text: String) -> Int { add(Self.head(0x5, text.utf8.count) + Array(text.utf8)) }

    mutating func add(integer: Int) -> Int { add([0x13] + Self.big(integer, 8)) }

    mutating func add(uid: Int) -> Int { add([0x81] + Self.big(uid, 2)) }

    mutating func add(_ elements: [Int]) -> Int { add(Self.head(0xA, elements.count) + elements.flatMap { Self.big($0, 2) }) }

    mutating func add(_ members: [String: Int]) -> Int {
        let keys = members.keys.map { add(text: $0) }
        return add(Self.head(0xD, members.count) + (keys + members.values).flatMap { Self.big($0, 2) })
    }

    func data(root: Int) -> Data {
        let table = places.flatMap { Self.big($0, 4) }
        return bytes + table + [0, 0, 0, 0, 0, 0, 4, 2] + Self.big(places.count, 8) + Self.big(root, 8) + Self.big(bytes.count, 8)
    }
}
