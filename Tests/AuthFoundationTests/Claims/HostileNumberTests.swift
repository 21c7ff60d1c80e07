import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Attacks: out-of-range numbers from a hostile server")
struct HostileNumberTests {
    static let numbers: [JSONValue] = [
        .double(1e300), .double(-1e300), .double(1e19), .integer(.max), .integer(.min), .integer(253_402_300_800), .integer(-1),
    ]

    @Test("An ID token with exp, iat or nbf out of range is rejected, and the error has a description", arguments: ["exp", "iat", "nbf"])
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

    @Test("An exp, iat or auth_time claim that is out of range counts as absent", arguments: numbers)
    func claim(number: JSONValue) throws {
        let key = try IssuerKeys.rs256.get()
        let token = try JWT(key.sign(["exp": number, "iat": number, "auth_time": number, "nbf": number]))
        #expect(token.expirationTime == nil)
        #expect(token.issuedAt == nil)
        #expect(token.authTime == nil)
    }

    @Test(
        "An expires_in that is out of range is limited to 10^10 seconds, and the expiry date can be formatted",
        arguments: ["1e300", "-1e300", "9223372036854775807", "\"1e300\""])
    func lifetime(number: String) throws {
        let response = try JSON(#"{"token_type":"Bearer","access_token":"a","expires_in":\#(number)}"#)
        let token = try Token(
            id: "session-1", issuedAt: Date(timeIntervalSince1970: 1_800_000_000), context: Token.Context(configuration: .fixture),
            response: response)
        #expect(abs(token.expiresIn) <= 1e10)
        #expect(token.expiresAt?.formatted(.iso8601).isEmpty == false)
    }

    /// JSON values that a hostile server sends where a string, an address or a list is expected.
    static let written = [
        "-1", "0", "0.5", "1e300", "-1e300", "1e-300", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "true", "null",
        "[1e300]", "{}", #""NaN""#, #""1e300""#, #""""#,
    ]

    @Test(
        "A discovery document with unexpected numbers or types is decoded or rejected without a crash, and the errors have descriptions",
        arguments: written)
    func discovery(value: String) async throws {
        let good = try await IssuerFixture().client.openIdConfiguration().json
        for member in OpenIdConfiguration.ProviderMetadata.allCases {
            var members = try #require(good.objectValue)
            members[member.rawValue] = try JSON(value)
            let document = try #require(JSON.object(members).text.map { String(decoding: $0, as: UTF8.self) })
            let issuer = try IssuerFixture()
            issuer.session.on("/.well-known/openid-configuration") { _, _ in .json(document) }
            do {
                let configuration = try await issuer.client.openIdConfiguration()
                _ = (configuration.payload, configuration.endSessionEndpoint, configuration.scopesSupported, "\(configuration)")
            } catch {
                #expect(!error.localizedDescription.isEmpty)
            }
        }
    }

    @Test(
        "A 429 response with out-of-range numbers in its headers causes fewer than ten waits of at most 60 seconds each",
        arguments: [
            "-1", "0.5", "1e300", "-1e300", "nan", "inf", "9223372036854775807", "9223372036854775808", "",
        ])
    func rateLimit(value: String) async throws {
        for name in ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset", "Retry-After", "Age", "Content-Length"] {
            let issuer = try IssuerFixture()
            var headers = [
                "x-rate-limit-limit": "1", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "1800000001",
                "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
            ]
            headers[name] = value
            let reply = ScriptedIssuer.Reply(status: 429, headers: headers)
            do {
                _ = try await issuer.signIn(reply)
                Issue.record("\(name): \(value) was accepted.")
            } catch {
                #expect(!error.localizedDescription.isEmpty)
            }
            #expect(
                issuer.clock.waits.allSatisfy { (0...60).contains($0) } && issuer.clock.waits.count < 10, "\(name): \(issuer.clock.waits)")
        }
    }
}
