import Foundation
import OktaAuthSdk
import Testing

@MainActor
@Suite("Primary authentication")
struct PrimaryAuthenticationTests {
    let server = ScriptedServer()
    let start: OktaAuthStatusUnauthenticated

    init() throws {
        start = OktaAuthStatusUnauthenticated(oktaDomain: try #require(URL(string: ScriptedServer.base)))
        start.restApi.httpRequestListener = server
    }

    @Test("A password sign-in returns a success status with a session token")
    func success() async throws {
        server.answer(
            #"""
            {"expiresAt":"2031-05-04T10:20:30.000Z","status":"SUCCESS","sessionToken":"session-1","_embedded":{"user":{"id":"00uAna",
            "passwordChanged":"2031-02-01T08:00:00.000Z","profile":{"login":"ana@example.test","firstName":"Ana","lastName":"Ruiz"}}}}
            """#)
        let status = try await start.authenticate(username: "ana@example.test", password: "s3cret-Horse")
        #expect(status.statusType == .success)
        let success = try #require(status as? OktaAuthStatusSuccess)
        #expect(success.sessionToken == "session-1")
        #expect(success.user?.profile?.firstName == "Ana")
        #expect(success.user?.passwordChanged == Date(timeIntervalSince1970: 1_927_699_200))
        let request = try #require(server.arrivals.first)
        #expect(request.method == "POST")
        #expect(request.url == "https://id.example.test/api/v1/authn")
        #expect(
            request.body == #"{"options":{"multiOptionalFactorEnroll":true,"warnBeforePasswordExpired":true},"#
                + #""password":"s3cret-Horse","username":"ana@example.test"}"#)
    }
}
