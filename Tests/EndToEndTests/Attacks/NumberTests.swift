import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Attacks: numbers out of range, at the sandbox and the command")
struct NumberTests {
    private static let numbers: [JSONValue] = [
        .double(1e300), .double(-1e300), .double(1e19), .double(-1e19), .integer(.max), .integer(.min), .integer(253_402_300_800),
    ]

    private func call(_ sandbox: Sandbox, _ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> (Int, JSONValue) {
        var request = URLRequest(url: sandbox.origin.appending(path: "sandbox/\(path)"))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.serialized()) }
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await PlainHTTP.data(for: request)
        return (response.statusCode, try JSONValue(parsing: data))
    }

    @Test("The sandbox's control API rejects a time outside of the years 1970 to 9999 with 400, and keeps the clock unchanged")
    func clock() async throws {
        try await withSandbox(.init(clock: SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000)))) { sandbox in
            for member in ["set", "advance"] {
                for number in Self.numbers {
                    let (status, json) = try await call(sandbox, "POST", "clock", [member: number])
                    #expect(status == 400, "\(member) \(number): \(json)")
                    #expect(json["error"]?.stringValue?.contains("253402300799") == true, "\(json)")
                }
            }
            let (status, json) = try await call(sandbox, "GET", "clock")
            #expect(status == 200)
            #expect(json["now"] == 1_750_000_000.0)
            let (answer, last) = try await call(sandbox, "POST", "clock", ["set": 253_402_300_799])
            #expect(answer == 200)
            #expect(last["date"] == "9999-12-31T23:59:59Z")
            let discovery = URLRequest(url: sandbox.issuer.appending(path: ".well-known/openid-configuration"))
            #expect(try await PlainHTTP.data(for: discovery).1.statusCode == 200)
        }
    }

    @Test("If a test sets the sandbox's clock to a time out of range, the clock takes the nearest time in the years 1970 to 9999")
    func clamped() {
        let clock = SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000))
        clock.set(to: Date(timeIntervalSince1970: 1e300))
        #expect(clock.now == Date(timeIntervalSince1970: 253_402_300_799))
        clock.advance(by: -1e300)
        #expect(clock.now == Date(timeIntervalSince1970: 0))
        clock.advance(by: .nan)
        #expect(clock.now == Date(timeIntervalSince1970: 0))
    }

    @Test(
        "The sandbox's control API rejects a fault whose status or time is out of range with 400, and no number out of range causes a 5xx response"
    )
    func settings() async throws {
        try await withSandbox { sandbox in
            for number in Self.numbers {
                let bodies: [(String, JSONValue)] = [
                    ("faults", ["effect": "status", "status": number, "endpoint": "token"]),
                    ("faults", ["effect": "delay", "seconds": number, "endpoint": "token"]),
                    ("faults", ["effect": "rate-limited", "reset_after": number, "endpoint": "token"]),
                ]
                for (path, body) in bodies {
                    let (status, json) = try await call(sandbox, "POST", path, body)
                    #expect(status == 400, "\(body): \(json)")
                }
                let (status, _) = try await call(
                    sandbox, "POST", "faults", ["effect": "status", "status": 503, "endpoint": "token", "count": number])
                #expect(status < 500, "count \(number)")
                let (phone, _) = try await call(sandbox, "POST", "phones/jane.doe@example.com/approve", ["within": number])
                #expect(phone < 500, "within \(number)")
            }
            #expect(try await call(sandbox, "GET", "clock").0 == 200)
        }
    }

    @Test(
        "countersign token decode does not crash on a token with a time claim out of range",
        arguments: ["exp", "iat", "nbf", "auth_time", "updated_at"])
    func decode(claim: String) async throws {
        let key = try SigningKey.generate(.es256)
        for number in Self.numbers {
            let token = try key.sign(["iss": "https://id.example.com", "sub": "jane", claim: number])
            let ended = try await Command.run(["token", "decode"], input: token)
            #expect(ended.status == 0, "\(claim) \(number): \(ended.status) \(ended.errors)")
            #expect(ended.output.contains("\n  \(claim)  \(number.serializedString)"), "\(claim) \(number): \(ended.output)")
        }
    }
}
