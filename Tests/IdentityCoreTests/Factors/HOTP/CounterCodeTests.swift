import Crypto
import Foundation
import Testing

@testable import IdentityCore

@Suite("HOTP codes")
struct CounterCodeTests {
    private static let secret = Array("12345678901234567890".utf8)
    /// The values of RFC 4226, appendix D.
    private static let vectors = [
        "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
    ]

    private static func method(counter: Int64) throws -> HOTPMethod {
        let environment = EngineEnvironment(
            random: SeededRandom(), masterKey: .init(data: [UInt8](repeating: 7, count: 32)), passwordHasher: PasswordHasher())
        let derivedKeys = try #require(DerivedKeys(root: [UInt8](repeating: 7, count: 32)))
        return try HOTPMethod(
            sealing: secret, forEnrollment: "id", credentialID: "4711", counter: counter, environment: environment, derivedKeys: derivedKeys
        )
    }

    private static func code(_ counter: Int64) -> String { TimeBasedCode.code(secret: secret, step: counter) }

    @Test("Generated HOTP codes equal the vectors of RFC 4226, and each code is valid at its counter", arguments: vectors.indices)
    func rightAtItsTurn(index: Int) throws {
        #expect(Self.code(Int64(index)) == Self.vectors[index])
        #expect(try Self.method(counter: Int64(index)).match(Self.vectors[index], secret: Self.secret) == .right(next: Int64(index) + 1))
    }

    @Test("An HOTP code is accepted up to nine counters ahead, and reported as ahead up to 99 counters ahead")
    func window() throws {
        let method = try Self.method(counter: 1_000)
        for ahead in 0..<Int64(10) {
            #expect(method.match(Self.code(1_000 + ahead), secret: Self.secret) == .right(next: 1_001 + ahead))
        }
        #expect(method.match(Self.code(1_010), secret: Self.secret) == .ahead(1_010))
        #expect(method.match(Self.code(1_099), secret: Self.secret) == .ahead(1_099))
        #expect(method.match(Self.code(1_100), secret: Self.secret) == .wrong)
        #expect(method.match(" 12 ", secret: Self.secret) == .wrong && method.match("", secret: Self.secret) == .wrong)
    }

    @Test("The HOTP codes of the ten previous counters are reported as used")
    func used() throws {
        let method = try Self.method(counter: 1_000)
        #expect(method.match(Self.code(999), secret: Self.secret) == .used)
        #expect(method.match(Self.code(990), secret: Self.secret) == .used)
        #expect(method.match(Self.code(989), secret: Self.secret) == .wrong)
    }

    @Test("Only two consecutive HOTP codes resynchronize a device whose counter is ahead")
    func resynchronized() throws {
        var method = try Self.method(counter: 1_000)
        method.aheadCounter = 1_050
        #expect(method.match(Self.code(1_051), secret: Self.secret) == .right(next: 1_052))
        #expect(method.match(Self.code(1_050), secret: Self.secret) == .ahead(1_050))
        #expect(method.match(Self.code(1_052), secret: Self.secret) == .ahead(1_052))
        #expect(method.match(Self.code(1_003), secret: Self.secret) == .right(next: 1_004))
    }

    @Test("An HOTP code with a space is accepted")
    func spaces() throws {
        #expect(try Self.method(counter: 0).match("755 224", secret: Self.secret) == .right(next: 1))
    }
}
