import Foundation
import Testing

@testable import AuthFoundation

@Suite("Attacks: malformed dates, JSON and JWT headers")
struct HostileInputTests {
    @Test(
        "A Date header with an implausible year is rejected",
        arguments: ["99999999999999", "9223372036854775807", "-9223372036854775808", "999999999999", "-5", "0", "+2027", "27"])
    func refusesYear(year: String) {
        #expect(HTTPDate.date(from: "Fri, 15 Jan \(year) 08:00:00 GMT") == nil)
    }

    @Test("JSON with 200 nested levels is rejected, and JSON with 30 nested levels is accepted", arguments: [("[", "]"), (#"{"a":"#, "}")])
    func refusesDepth(open: String, close: String) throws {
        func nested(_ depth: Int) -> String { String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth) }
        _ = try JSON(nested(30))
        #expect(throws: (any Error).self) { try JSON(nested(200)) }
        #expect(throws: (any Error).self) { try JSONDecoder().decode(JSON.self, from: Data(nested(200).utf8)) }
    }

    @Test("Brackets in a JSON string do not count as nesting")
    func bracketsInString() throws {
        let text = String(repeating: #"[{\""#, count: 300)
        #expect(try JSON(#"{"a":"\#(text)"}"#)["a"]?.string == String(repeating: "[{\"", count: 300))
    }

    @Test("A JWT whose header lists critical extensions is rejected (RFC 7515 section 4.1.11)")
    func refusesCriticalHeader() throws {
        let header = Data(#"{"alg":"RS256","kid":"rsa-1","crit":["b64"],"b64":false}"#.utf8).base64URLEncoded
        let body = Data(#"{"sub":"00u1"}"#.utf8).base64URLEncoded
        #expect(throws: JWTError.badTokenStructure) { try JWT("\(header).\(body).c2ln") }
    }
}
