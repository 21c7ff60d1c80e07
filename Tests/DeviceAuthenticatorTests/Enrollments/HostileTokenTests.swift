import Foundation
import JOSE
import Testing

@testable import DeviceAuthenticator

@Suite("Attacks: access tokens with characters that are invalid in a header")
struct HostileTokenTests {
    static let values = ["a\r\nX-Role: admin", "a\nb", "a b", "a\u{0}b", "\u{E4}", ""]

    @Test(
        "A maintenance token with characters other than visible ASCII is rejected, and the error does not contain the token",
        arguments: values)
    func maintenance(value: String) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        for answer: JSONValue in [
            ["access_token": .string(value), "token_type": "Bearer"], ["access_token": "a", "token_type": .string(value)],
        ] {
            phone.org.answer(.token, .json(answer))
            let error = await failure { try await enrollment.retrieveMaintenanceToken() }
            #expect(error == .internalError("") && error?.debugDescription.contains("admin") == false)
        }
    }

    @Test(
        "An enrollment by link fails without an enrollment request if the access token has characters other than visible ASCII",
        arguments: values)
    func link(value: String) async throws {
        let phone = try TestPhone()
        let device = try phone.authenticator
        phone.org.answer(.token, .json(["access_token": .string(value), "token_type": "Bearer", "expires_in": 300]))
        let link = try EnrollmentLink("https://id.example.com/enroll/aut1#client_id=client-1&ticket=ticket-secret")
        let error = await failure { try await device.enroll(link, enrollmentParameters: .init(deviceToken: .empty)) }
        #expect(error == .internalError("") && error?.debugDescription.contains("admin") == false)
        #expect(phone.org.requests(.enroll).isEmpty)
    }
}
