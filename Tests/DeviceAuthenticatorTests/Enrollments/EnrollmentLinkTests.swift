import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The QR code of a sign-in page")
struct EnrollmentLinkTests {
    private static let address = "https://id.example.com/enroll/aut1#client_id=client-1&ticket=ticket-secret"

    private func reason(_ body: () async throws -> Void) async -> DeviceAuthenticatorError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? DeviceAuthenticatorError)?.reason
        }
    }

    @Test("An enrollment link contains issuer, client and ticket, and its description hides the ticket")
    func reading() throws {
        let link = try EnrollmentLink(" \(Self.address)\n")
        #expect(link.organizationURL.absoluteString == "https://id.example.com")
        #expect(link.clientID == "client-1" && link.ticket == "ticket-secret")
        #expect(!"\(link)\(String(reflecting: link))".contains("secret"))
        var dumped = ""
        dump(link, to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(try EnrollmentLink("http://localhost:8080/enroll/a#client_id=c&ticket=t").organizationURL.port == 8080)
        #expect(try EnrollmentLink("https://id.example.com/enroll/a#ticket=t&client_id=c%20d").clientID == "c d")
    }

    @Test(
        "An invalid enrollment link is rejected",
        arguments: [
            "", "hello", "https://id.example.com/enroll/aut1", "https://id.example.com/enroll/aut1?client_id=c&ticket=t",
            "https://id.example.com/enroll/aut1#client_id=c", "https://id.example.com/enroll/aut1#ticket=t",
            "https://id.example.com/enroll/aut1#client_id=&ticket=t", "https://id.example.com/other#client_id=c&ticket=t",
            "http://id.example.com/enroll/aut1#client_id=c&ticket=t", "javascript:/enroll/#client_id=c&ticket=t",
            "https://a@id.example.com/enroll/aut1#client_id=c&ticket=t", "otpauth://totp/enroll/a#client_id=c&ticket=t",
            "https://id.example.com/enroll/aut1#client_id=c&ticket=t&ticket=u", String(repeating: "a", count: 3_000),
        ])
    func refused(text: String) async {
        #expect(await reason { _ = try EnrollmentLink(text) } == .enrollmentLinkRefused)
    }

    @Test("The phone exchanges an enrollment link's ticket for an access token, enrolls with the token, and logs neither ticket nor token")
    func enrolling() async throws {
        let phone = try TestPhone()
        let device = try phone.authenticator
        phone.org.answer(.token, .json(["access_token": "ticket-token", "token_type": "Bearer", "expires_in": 300]))
        let enrollment = try await device.enroll(EnrollmentLink(Self.address), enrollmentParameters: .init(deviceToken: .empty))
        let request = try #require(phone.org.requests(.token).first)
        #expect(request.httpMethod == "POST" && request.url?.absoluteString == "https://id.example.com/oauth2/v1/token")
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(
            String(decoding: request.httpBody ?? Data(), as: UTF8.self)
                == "grant_type=urn%3Acountersign%3Aparams%3Aoauth%3Agrant-type%3Aenrollment-ticket&client_id=client-1&ticket=ticket-secret")
        #expect(phone.org.requests(.enroll).first?.value(forHTTPHeaderField: "Authorization") == "Bearer ticket-token")
        #expect(device.allEnrollments().map(\.enrollmentId) == [enrollment.enrollmentId])
        #expect(!phone.log.text.contains("ticket-"))
    }

    @Test("If the server rejects an enrollment ticket, the phone reports a refused link and sends no enrollment request")
    func used() async throws {
        let phone = try TestPhone()
        let device = try phone.authenticator
        phone.org.answer(.token, .json(["error": "invalid_grant", "error_description": "The code is not known."], status: 400))
        let link = try EnrollmentLink(Self.address)
        #expect(
            await reason { _ = try await device.enroll(link, enrollmentParameters: .init(deviceToken: .empty)) } == .enrollmentLinkRefused)
        #expect(phone.org.requests(.enroll).isEmpty && device.allEnrollments().isEmpty)
        phone.org.answer(.token, .text(#"{"token":"ticket-token"}"#))
        do {
            _ = try await device.enroll(link, enrollmentParameters: .init(deviceToken: .empty))
            Issue.record("an answer without a token is one")
        } catch {
            #expect(!"\(error) \(String(reflecting: error)) \(error.localizedDescription)".contains("ticket-token"))
        }
    }
}
