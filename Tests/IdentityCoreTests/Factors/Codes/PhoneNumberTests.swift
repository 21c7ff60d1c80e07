import Foundation
import Testing

@testable import IdentityCore

@Suite("Telephone numbers and mail addresses")
struct PhoneNumberTests {
    @Test(
        "A phone number with common separators is normalized to E.164, and its description is masked",
        arguments: [
            ("+1 (555) 123-4821", "+15551234821", "+1 XXX-XXX-4821"), ("0044 20 7946 0958", "+442079460958", "+44 XXX-XXX-0958"),
            ("+49.30/12345678", "+493012345678", "+49 XXX-XXX-5678"), ("+353 1 234 5678", "+35312345678", "+353 XXX-XXX-5678"),
            ("+7 495 123-45-67", "+74951234567", "+7 XXX-XXX-4567"), ("+34600111512", "+34600111512", "+34 XXX-XXX-1512"),
        ])
    func reading(_ typed: String, _ e164: String, _ masked: String) throws {
        let number = try #require(PhoneNumber(typed))
        #expect(number.e164 == e164)
        #expect(number.masked == masked)
        #expect("\(number)" == masked && String(reflecting: number) == masked)
        #expect(try JSONDecoder().decode(PhoneNumber.self, from: JSONEncoder().encode(number)) == number)
    }

    @Test(
        "A phone number without a calling code, with invalid characters or of an invalid length is rejected",
        arguments: [
            "", "+", "555 123 4821", "020 7946 0958", "+0123456789", "000123456789", "+1555123", "+1234567890123456",
            "+1 555 123 4821;ext=1",
            "++15551234821", "+1555+1234821", "+1555123482a", "+١٥٥٥١٢٣٤٨٢١", "+1 555 123 4821\n", String(repeating: " ", count: 60),
        ])
    func notNumbers(_ typed: String) { #expect(PhoneNumber(typed) == nil) }

    @Test(
        "A mail address is masked except for its domain and the first and last character before the at sign",
        arguments: [
            ("ana@example.test", "a...a@example.test"), ("jane.doe@Example.COM", "j...e@example.com"), ("a@b.co", "a...@b.co"),
        ])
    func addresses(_ text: String, _ masked: String) throws {
        let address = try #require(MailAddress(text))
        #expect(address.masked == masked)
        #expect("\(address)" == masked)
    }

    @Test(
        "A mail address with invalid syntax, or with characters that could inject headers or commands, is rejected",
        arguments: [
            "", "jane", "@example.com", "jane@", "jane@@example.com", "jane@example.com\r\nBcc: all@example.com", "jane@example.com>",
            "jane doe@example.com", "\"jane doe\"@example.com", "jane@example.com\0", ".jane@example.com", "jane.@example.com",
            "ja..ne@example.com", "jane@-example.com", "jane@exa mple.com", "jane@example..com", "jané@example.com", "jane@exämple.com",
            "jane@[127.0.0.1]", "jane<x>@example.com", "jane,john@example.com", String(repeating: "a", count: 65) + "@example.com",
            "jane@" + String(repeating: "a.", count: 60) + "com",
        ])
    func notAddresses(_ text: String) { #expect(MailAddress(text) == nil) }
}
