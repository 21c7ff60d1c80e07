import Delivery
import Foundation
import JOSE
import Testing

@testable import AuthorizationServer
@testable import IdentityCore

@Suite("Mails, text messages and calls")
struct MessageWriterTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    private func message(
        _ purpose: OutgoingMessage.Purpose = .signIn, by channel: CodeChannel, firstName: String? = "Jane", locale: String? = nil,
        organization: String = "Acme", app: String? = "Portal", code: String? = "123456", link: String? = nil, lifetime: TimeInterval = 300
    ) throws -> OutgoingMessage {
        var user = User(id: "00u1", login: "jane@example.org", createdAt: Self.start)
        user.profile["given_name"] = firstName.map(JSONValue.string)
        user.profile["locale"] = locale.map(JSONValue.string)
        let destination =
            channel == .email
            ? CodeDestination(try #require(MailAddress("jane@example.org"))) : CodeDestination(try #require(PhoneNumber("+15551234821")))
        return OutgoingMessage(
            id: "msg123", channel: channel, destination: destination, purpose: purpose, code: code, linkToken: link,
            expiresAt: Self.start.addingTimeInterval(lifetime), recipient: .init(user), organizationName: organization,
            applicationName: app,
            origin: .init(requestID: "req1", address: nil, time: Self.start))
    }

    private func mail(_ message: OutgoingMessage, look: MessageWriter.Look = .init()) throws -> Mail {
        guard case .mail(let mail)? = MessageWriter(look: look).message(message, origin: "https://id.example.com") else { throw NoMail() }
        return mail
    }

    private func telephone(_ message: OutgoingMessage) throws -> TelephoneMessage {
        guard case .telephone(let text)? = MessageWriter().message(message, origin: "https://id.example.com") else { throw NoMail() }
        return text
    }

    private struct NoMail: Error {}

    @Test("A sign-in mail names the user, the app, the code, the link and the lifetime, in English or German")
    func mails() throws {
        let english = try mail(message(by: .email, link: "ml_abc"))
        #expect(english.recipient == "jane@example.org" && english.subject == "Your sign-in code" && english.language == "en")
        for part in ["Hello Jane,", "Portal", "123456", "https://id.example.com/signin/mail/ml_abc", "5 minutes", "Acme"] {
            #expect(english.text.contains(part) && english.html.contains(part), "\(part)")
        }
        let german = try mail(message(by: .email, firstName: nil, locale: "de-AT"))
        #expect(german.language == "de" && german.text.hasPrefix("Guten Tag,\n") && german.text.contains("5 Minuten"))
        #expect(!german.text.contains("https:") && !german.html.contains("<a "))
    }

    @Test("Each message purpose has a complete mail and text message in English and German", arguments: OutgoingMessage.Purpose.allCases)
    func purposes(_ purpose: OutgoingMessage.Purpose) throws {
        for locale in ["en", "de"] {
            let mail = try mail(message(purpose, by: .email, locale: locale, link: "token1", lifetime: 86_400))
            #expect(!mail.subject.isEmpty && !mail.subject.contains("{") && !mail.text.contains("{") && !mail.html.contains("{{"))
            #expect(mail.text.contains("/token1") && mail.text.contains("24 "))
            let text = try telephone(
                message(purpose, by: .sms, locale: locale, code: purpose == .activation ? nil : "123456", link: "token1"))
            #expect(text.text.contains("/token1") && !text.text.contains("{") && !text.text.contains("\n"))
        }
    }

    @Test("A call reads the code digit by digit, twice, and a text message begins with the code")
    func calls() throws {
        let call = try telephone(message(by: .voice))
        #expect(call.channel == .call && call.code == "123456")
        #expect(call.text == "Hello. Your code for Acme is: 1, 2, 3, 4, 5, 6. Again: 1, 2, 3, 4, 5, 6. Goodbye.")
        let text = try telephone(message(by: .sms))
        #expect(text.channel == .text && text.text == "123456 is your code to sign in to Portal. Acme never asks you for it.")
        #expect(text.purpose == .verification && text.phoneNumber == "+15551234821" && text.recipient.firstName == "Jane")
    }

    @Test("Names of users, apps and organizations cannot inject markup, lines or placeholders into a mail")
    func names() throws {
        let attack = "<img src=x>&\"'\r\nBcc: x\u{2028}{code}{{code}}"
        let mail = try mail(message(by: .email, firstName: attack, organization: attack, app: attack))
        #expect(!mail.html.contains("<img") && mail.html.contains("&lt;img src=x&gt;&amp;&quot;&#39;"))
        #expect(!mail.subject.contains("\r") && !mail.subject.contains("\n"))
        #expect(!mail.text.contains("\r") && !mail.text.contains("\nBcc"))
        // Placeholders in the names are not replaced, so the code occurs once.
        #expect(mail.text.components(separatedBy: "123456").count == 2)
    }

    @Test("A mail shows the name and the color of the organization's branding")
    func brand() throws {
        let mail = try mail(message(by: .email), look: .init(name: "Brand", accent: "#123456", accentInk: "#fefefe"))
        #expect(mail.html.contains("Brand") && mail.html.contains("color:#123456") && !mail.html.contains("Acme"))
    }
}
