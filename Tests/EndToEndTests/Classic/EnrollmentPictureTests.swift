import Foundation
import TestSupport
import Testing

@testable import countersign

@Suite("The QR code of a phone enrollment, in the terminal")
struct EnrollmentPictureTests {
    @Test(
        "The command fetches an enrollment QR code only from the organization's origin, over https or from a loopback address",
        arguments: [
            ("https://id.example.com", "https://id.example.com/api/v1/qr/1", true),
            ("https://id.example.com", "https://ID.example.com:443/qr", true),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/qr", true),
            ("http://127.0.0.2:8080", "http://127.0.0.2:8080/qr", true),
            ("http://[::1]:8080", "http://[::1]:8080/qr", true),
            ("http://id.localhost:8080", "http://id.LOCALHOST:8080/qr", true),
            ("http://127.0.0.1.example.com", "http://127.0.0.1.example.com/qr", false),
            ("http://127.example.0.1", "http://127.example.0.1/qr", false),
            ("https://id.example.com", "https://example.com/qr", false),
            ("https://id.example.com", "https://id.example.com:8443/qr", false),
            ("https://id.example.com", "http://id.example.com/qr", false),
            ("https://id.example.com", "http://127.0.0.1:8080/qr", false),
            ("https://id.example.com", "http://169.254.169.254/latest", false),
            ("https://id.example.com", "https://jane:secret@id.example.com/qr", false),
            ("http://id.example.com", "http://id.example.com/qr", false),
            ("https://id.example.com", "file:///etc/hosts", false),
        ])
    func origin(organization: String, picture: String, isFetched: Bool) throws {
        let (organization, picture) = (try #require(URL(string: organization)), try #require(URL(string: picture)))
        #expect(EnrollmentCode.isPicture(picture, of: organization) == isFetched)
    }

    private static let text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"

    @Test("The command follows no redirect in a request for an enrollment QR code")
    func redirects() async throws {
        let elsewhere = try PlainListener(answering: [Self.text])
        let address = "http://127.0.0.1:\(elsewhere.port)/"
        for location in [address, "/there"] {
            let redirect = PlainListener.answer(302, fields: "Location: \(location)\r\n")
            let organization = try PlainListener(answering: [redirect, Self.text])
            let picture = try #require(URL(string: "http://127.0.0.1:\(organization.port)/qr"))
            #expect(await EnrollmentCode.text(of: picture) == nil)
            #expect(organization.received.count == 1 && elsewhere.received.isEmpty)
        }
        // Now the picture exists.
        #expect(await EnrollmentCode.text(of: try #require(URL(string: address))) == "hello")
    }
}
