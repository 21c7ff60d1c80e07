import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Decoding stored records")
struct RecordDecoderTests {
    private struct Everything: Codable, Equatable {
        enum Kind: String, Codable { case plain, odd }
        enum Choice: Codable, Equatable {
            case none
            case some(Int, name: String)
        }
        struct Part: Codable, Equatable, Hashable {
            var count: Int
            var bytes: [UInt8]
        }

        var text = "Zoë \"quoted\" \u{1F511}\n"
        var whole = Int64.max
        var small = Int8.min
        var unsigned: UInt32 = .max
        var fraction = 0.1 + 0.2
        var flag = true
        var date = Date(timeIntervalSince1970: 1_700_000_000.123456)
        var data = Data([0, 1, 255])
        var bytes: [UInt8] = [0, 127, 255]
        var link = URL(string: "https://id.example.com/a?b=c#d")
        var kind = Kind.odd
        var choices = [Choice.none, .some(3, name: "three")]
        var part: Part? = Part(count: 1, bytes: [9])
        var parts: Set<Part> = [Part(count: 2, bytes: []), Part(count: 3, bytes: [1])]
        var counts: [String: Int] = ["a": 1, "": -1]
        var byNumber: [Int: String] = [7: "seven"]
        var claims: [String: JSONValue] = ["amr": ["pwd", "otp"], "nested": ["n": .null, "d": 1.5]]
        var missing: String?
        var missingPart: Part?
        var optionals: [Int?] = [1, nil, 3]
    }

    @Test("RecordDecoder decodes every kind of member to the same value as JSONDecoder")
    func decodesAll() throws {
        let value = Everything()
        let payload = try RecordCoding.encode(value)
        #expect(try RecordDecoder.decode(Everything.self, from: payload) == value)
        #expect(try JSONDecoder().decode(Everything.self, from: Data(payload)) == value)
    }

    @Test(
        "A record with a member of the wrong type, or without a required member, causes a decoding error",
        arguments: [
            (#""text":"#, #""text":1,"x":"#), (#""whole":"#, #""whole":1.5,"x":"#), (#""small":-128"#, #""small":-129"#),
            (#""flag":true"#, #""flag":"true""#), (#""kind":"odd""#, #""kind":"other""#), (#""bytes":[0,"#, #""bytes":[256,"#),
            (#""data":"AAH/""#, #""data":"?""#), (#""fraction":"#, #""fractions":"#), (#""part":{"#, #""part":[],"x":{"#),
        ])
    func refusesOther(old: String, new: String) throws {
        let text = String(decoding: try RecordCoding.encode(Everything()), as: UTF8.self)
        let changed = text.replacing(old, with: new, maxReplacements: 1)
        #expect(changed != text)
        #expect(throws: (any Error).self) { try RecordDecoder.decode(Everything.self, from: Array(changed.utf8)) }
    }

    @Test("The error for a damaged record names the record, and contains the decoding error")
    func namesMember() throws {
        let record = Record(kind: .session, id: "ses1", payload: Array(#"{"id":"ses1"}"#.utf8))
        let error = #expect(throws: StoreError.self) { try Session(record) }
        #expect(error?.message.contains("session/ses1") == true)
        let cause = try #require(error?.underlying)
        #expect("\(cause)".contains("keyNotFound"))
    }

    @Test("RecordDecoder decodes the transaction of a push sign-in to the same value as JSONDecoder")
    func decodesRealRecords() async throws {
        let org = try await PushFixture()
        _ = try await org.enroll()
        _ = try await org.challenge(try await org.mfaToken()).get()
        let transactions = try await org.store.read { try $0.records(.transaction, after: nil, limit: 10) }
        #expect(transactions.count == 1)
        for record in transactions {
            let decoded = try RecordDecoder.decode(SignInTransaction.self, from: record.payload)
            #expect(try decoded == JSONDecoder().decode(SignInTransaction.self, from: Data(record.payload)))
        }
    }
}
