import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Step-up challenges (RFC 9470)")
struct StepUpChallengeTests {
    private static let example =
        #"Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", acr_values="myACR""#

    // MARK: - Reading

    @Test("The example challenges of RFC 9470 are read with their acr_values, max_age and description")
    func examples() {
        #expect(
            StepUpChallenge(authenticateHeader: Self.example)
                == StepUpChallenge(acrValues: ["myACR"], errorDescription: "A different authentication level is required"))
        let recent =
            #"Bearer error="insufficient_user_authentication", error_description="More recent authentication is required", max_age="5""#
        #expect(
            StepUpChallenge(authenticateHeader: recent)
                == StepUpChallenge(maxAge: 5, errorDescription: "More recent authentication is required"))
    }

    static let challenges: [(String, StepUpChallenge)] = [
        (
            #"DPoP realm="api", error="insufficient_user_authentication", acr_values="a  b", max_age="0", scope="x y", algs="ES256""#,
            StepUpChallenge(acrValues: ["a", "b"], maxAge: 0, scope: ["x", "y"])
        ),
        (#"bearer ERROR=insufficient_user_authentication , Max_Age = 300"#, StepUpChallenge(maxAge: 300)),
        (#"Bearer error="insufficient_user_authentication""#, StepUpChallenge()),
        (
            #"Negotiate abc==, Basic realm="x, Bearer error=\"y\"", Bearer error="insufficient_user_authentication", acr_values="phr""#,
            StepUpChallenge(acrValues: ["phr"])
        ),
        (
            #"Bearer error="invalid_token", DPoP error="insufficient_user_authentication", acr_values="phr""#,
            StepUpChallenge(acrValues: ["phr"])
        ),
        (
            #"Bearer error="insufficient_user_authentication", error_description="Say \"yes\", then \\ go""#,
            StepUpChallenge(errorDescription: #"Say "yes", then \ go"#)
        ),
        (#", ,Bearer error="insufficient\_user_authentication",,"#, StepUpChallenge()),
        (#"Bearer error="insufficient_user_authentication", acr_values="phr", DPoP"#, StepUpChallenge(acrValues: ["phr"])),
        // A max_age that is no number is ignored.
        (#"Bearer error="insufficient_user_authentication", max_age="-1""#, StepUpChallenge()),
        (#"Bearer error="insufficient_user_authentication", max_age="1e9""#, StepUpChallenge()),
        (#"Bearer error="insufficient_user_authentication", max_age="99999999999""#, StepUpChallenge()),
        (#"Bearer error="insufficient_user_authentication", max_age="""#, StepUpChallenge()),
        (#"Bearer error="insufficient_user_authentication", max_age="9999999999""#, StepUpChallenge(maxAge: 9_999_999_999)),
    ]

    @Test("A step-up challenge is read from a header with any spacing, letter case, escapes and other challenges", arguments: challenges)
    func read(_ header: String, _ challenge: StepUpChallenge) {
        #expect(StepUpChallenge(authenticateHeader: header) == challenge)
    }

    @Test(
        "A header without a well-formed step-up challenge gives none",
        arguments: [
            "", " ", "Bearer", #"Bearer realm="api""#, #"Bearer error="invalid_token""#, #"Basic error="insufficient_user_authentication""#,
            #"Bearer error_description="error=\"insufficient_user_authentication\"""#,
            #"Bearer error="insufficient_user_authentication"#, #"Bearer error="insufficient_user_authentication" max_age="5""#,
            #"Bearer error="insufficient_user_authentication", error="invalid_token""#,
            #"Bearer error="insufficient_user_authentication", acr_values="a"b"#,
            #"Bearer, error="insufficient_user_authentication"x"#, "Bearer error=\"insufficient_user_authentication\", a=\"\u{0}\"",
            #"Bearer error="INSUFFICIENT_USER_AUTHENTICATION""#, #"error="insufficient_user_authentication""#,
            #"Bearer "error"="insufficient_user_authentication""#, "Bearer error=\"insufficient_user_authentication\\",
        ])
    func none(_ header: String) {
        #expect(StepUpChallenge(authenticateHeader: header) == nil)
    }

    @Test("A header that is longer than 8192 bytes gives no step-up challenge")
    func bounded() {
        let fitting = Self.example + String(repeating: " ", count: 8192 - Self.example.utf8.count)
        #expect(StepUpChallenge(authenticateHeader: fitting) != nil)
        #expect(StepUpChallenge(authenticateHeader: fitting + " ") == nil)
        #expect(StepUpChallenge(authenticateHeader: String(repeating: "a=\"", count: 100_000)) == nil)
        #expect(StepUpChallenge(authenticateHeader: String(repeating: "Bearer,", count: 1_000)) == nil)
    }

    @Test("The challenges of a header are read in order, and reading stops at a malformed one")
    func several() {
        func schemes(_ header: String) -> [String] { AuthenticationChallenge.all(in: header).map(\.scheme) }
        #expect(schemes(#"Bearer realm="a, b", DPoP algs="ES256", Negotiate, NTLM TlRM/+=="#) == ["bearer", "dpop", "negotiate", "ntlm"])
        #expect(schemes(#"Basic realm="x", Bearer a=b, a=c, DPoP"#) == ["basic"])
        #expect(schemes(#"Basic Bearer a=b"#) == [])
        #expect(schemes(#"Basic realm=x Bearer a=b"#) == [])
    }

    @Test("A response has a step-up challenge only with the status 401")
    func response() throws {
        func response(_ status: Int, _ headers: [String: String]) throws -> HTTPURLResponse {
            try #require(
                HTTPURLResponse(
                    url: url("https://api.example.com/"), statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers))
        }
        #expect(StepUpChallenge(try response(401, ["www-authenticate": Self.example]))?.acrValues == ["myACR"])
        #expect(StepUpChallenge(try response(403, ["WWW-Authenticate": Self.example])) == nil)
        #expect(StepUpChallenge(try response(401, [:])) == nil)
    }

    // MARK: - The check of the new tokens

    private func token(acr: String?, time: Int64?, subject: String = "00u1", issuedAt: Int64 = 1_000) throws -> Token {
        var claims: [String: JSON] = ["sub": .string(subject), "iat": .integer(issuedAt)]
        claims["acr"] = acr.map(JSON.string)
        claims["auth_time"] = time.map(JSON.integer)
        return try .fixture(claims: claims)
    }

    @Test("Tokens of a stronger or newer sign-in that meets the challenge are accepted")
    func met() throws {
        let weak = try token(acr: nil, time: 900)
        try StepUpChallenge(acrValues: ["a", "b"]).check(token(acr: "b", time: 900), replacing: weak)
        try StepUpChallenge(maxAge: 60).check(token(acr: nil, time: 940), replacing: weak)
        try StepUpChallenge(acrValues: ["a"], maxAge: 60).check(token(acr: "a", time: 990), replacing: nil)
        try StepUpChallenge(maxAge: 0).check(token(acr: nil, time: 999), replacing: weak)
        try StepUpChallenge().check(token(acr: nil, time: 999), replacing: weak)
    }

    @Test("Tokens that do not meet the challenge, or that are no better than the refused tokens, are rejected with the reason")
    func unmet() throws {
        let former = try token(acr: "a", time: 900)
        let cases: [(StepUpChallenge, Token, StepUpError)] = try [
            (StepUpChallenge(acrValues: ["b"]), token(acr: "a", time: 990), .levelNotReached("a")),
            (StepUpChallenge(acrValues: ["b"]), token(acr: nil, time: 990), .levelNotReached(nil)),
            (StepUpChallenge(maxAge: 60), token(acr: "a", time: 939), .tooOld),
            (StepUpChallenge(maxAge: 60), token(acr: "b", time: nil), .unchanged),
            // Without acr_values, another level is no progress: it can be weaker.
            (StepUpChallenge(), token(acr: nil, time: 900), .unchanged),
            // The refused tokens named their user, and the new ones do not.
            (StepUpChallenge(acrValues: ["b"]), .fixture(), .unchanged),
            // The resource server refused the first token although it meets the challenge.
            (StepUpChallenge(acrValues: ["a"], maxAge: 200), token(acr: "a", time: 900), .unchanged),
            (StepUpChallenge(), token(acr: "a", time: 899), .unchanged),
            (StepUpChallenge(acrValues: ["b"]), token(acr: "b", time: 990, subject: "00u2"), .otherUser),
        ]
        for (challenge, token, reason) in cases {
            #expect(throws: reason) { try challenge.check(token, replacing: former) }
        }
    }

    @Test("Tokens without an ID token are accepted in place of such tokens, because the client cannot read the access token")
    func opaque() throws {
        try StepUpChallenge(acrValues: ["b"], maxAge: 0).check(.fixture(), replacing: .fixture())
        try StepUpChallenge(acrValues: ["b"], maxAge: 0).check(.fixture(), replacing: nil)
    }

    @Test("Each error of a step-up tells the user the reason and a remedy")
    func descriptions() {
        for error in [StepUpError.levelNotReached("a"), .levelNotReached(nil), .tooOld, .unchanged, .otherUser] {
            #expect(error.userText.suggestion != nil && error.debugDescription.count > 40)
        }
    }
}
