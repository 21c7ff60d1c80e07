import Foundation
import JOSE
import Testing

@testable import AuthFoundation

@Suite("Attacks: numbers out of range, from a hostile server")
struct HostileNumberTests {
    static let numbers: [JSONValue] = [
        .double(1e300), .double(-1e300), .double(1e19), .integer(.max), .integer(.min), .integer(253_402_300_800), .integer(-1),
    ]

    @Test("An ID token whose times are out of range is refused, and the error can be shown.", arguments: ["exp", "iat", "nbf"])
    func idToken(claim: String) async throws {
        let issuer = try IssuerFixture()
        for number in Self.numbers {
            var claims = issuer.claims()
            claims[claim] = number
            let token = try IssuerKeys.rs256.get().sign(claims)
            do {
                _ = try await issuer.signIn(issuer.response(idToken: token))
                Issue.record("\(claim) \(number) was accepted.")
            } catch {
                #expect(!error.localizedDescription.isEmpty)
            }
        }
    }

    @Test("A claim that is a time out of range reads as no time.", arguments: numbers)
    func claim(number: JSONValue) throws {
        let key = try IssuerKeys.rs256.get()
        let token = try JWT(key.sign(["exp": number, "iat": number, "auth_time": number, "nbf": number]))
        #expect(token.expirationTime == nil)
        #expect(token.issuedAt == nil)
        #expect(token.authTime == nil)
    }

    @Test(
        "An expires_in out of range is a lifetime of some centuries, whose end can be shown.",
        arguments: ["1e300", "-1e300", "9223372036854775807", "\"1e300\""])
    func lifetime(number: String) throws {
        let response = try JSON(#"{"token_type":"Bearer","access_token":"a","expires_in":\#(number)}"#)
        let token = try Token(
            id: "session-1", issuedAt: Date(timeIntervalSince1970: 1_800_000_000), context: Token.Context(configuration: .fixture),
            response: response)
        #expect(abs(token.expiresIn) <= 1e10)
        #expect(token.expiresAt?.formatted(.iso8601).isEmpty == false)
    }
}
