import Foundation
import Testing

@testable import countersign

@Suite("The picture of an enrolment, in the terminal")
struct EnrolmentPictureTests {
    @Test(
        "is fetched from the organization only, and by no way that others can read",
        arguments: [
            ("https://id.example.com", "https://id.example.com/api/v1/qr/1", true),
            ("https://id.example.com", "https://ID.example.com:443/qr", true),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/qr", true),
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
        #expect(EnrolmentCode.isPicture(picture, of: organization) == isFetched)
    }
}
