internal import Delivery
internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Mustache
internal import ServerHTTP
internal import SignInPages

/// Writes mails, texts and call texts in the user's language, with the organization's name and color. Names of users, organizations and
/// applications are escaped in HTML and reduced to one line.
struct MessageWriter: Sendable {
    /// The branding of messages.
    struct Look: Sendable {
        /// The name at the top of each mail; `nil` for the organization's name.
        var name: String?
        /// The color of buttons: `#rrggbb`.
        var accent = "#0f5c5a"
        /// The color of the text on buttons: `#rrggbb`.
        var accentInk = "#ffffff"
    }

    private struct View: Sendable {
        var language: String
        var subject: String
        var title: String
        var greeting: String
        var lead: String
        var code: String?
        var link: String?
        var linkText: String
        var expiry: String
        var warning: String
        var short: String
        var name: String
        var accent: String
        var accentInk: String
    }

    private let look: Look
    private let library: MustacheLibrary

    init(look: Look = Look()) {
        self.look = look
        MustacheContentTypes.register(PageContent(), named: PageContent.name)
        MustacheContentTypes.register(PlainContent(), named: PlainContent.name)
        let sources: [String: (content: String, bytes: [UInt8])] = [
            "mail": (PageContent.name, PackageResources.mail_mustache),
            "mailtext": (PlainContent.name, PackageResources.mailtext_mustache),
            "text": (PlainContent.name, PackageResources.text_mustache),
        ]
        library = MustacheLibrary(
            templates: sources.mapValues { source in
                let text = "{{% CONTENT_TYPE:\(source.content)}}" + String(decoding: source.bytes, as: UTF8.self)
                // The templates are part of the program; a parse error stops the first server of any test.
                guard let template = try? MustacheTemplate(string: text) else { preconditionFailure("no template: \(text)") }
                return template
            })
    }

    /// Returns the message to send, or `nil` if the destination is neither a mail address nor a phone number. Links start with `origin`.
    func message(_ message: OutgoingMessage, origin: String) -> Message? {
        let view = view(of: message, origin: origin)
        if let address = message.destination.mailAddress {
            return .mail(
                Mail(
                    id: message.id, recipient: address.text, subject: view.subject,
                    text: library.render(view, withTemplate: "mailtext") ?? "", html: library.render(view, withTemplate: "mail") ?? "",
                    language: view.language, expiresAt: message.expiresAt))
        }
        guard let number = message.destination.phoneNumber else { return nil }
        let isCall = message.channel == .voice
        let text = (library.render(view, withTemplate: "text") ?? "").trimmingCharacters(in: .newlines)
        return .telephone(
            TelephoneMessage(
                id: message.id, channel: isCall ? .call : .text, phoneNumber: number.e164,
                phoneExtension: message.destination.phoneExtension, text: isCall ? spoken(message, view) : text, code: message.code,
                language: view.language, purpose: Self.purpose(message.purpose),
                recipient: .init(
                    userID: message.recipient.userID, login: message.recipient.login, firstName: message.recipient.firstName,
                    lastName: message.recipient.lastName),
                requestID: message.origin.requestID, address: message.origin.address, expiresAt: message.expiresAt))
    }

    /// Returns the URL of the message's link; `nil` for a message without a link.
    static func link(_ message: OutgoingMessage, origin: String) -> String? {
        message.linkToken.map { token in
            switch message.purpose {
            case .signIn, .enrollment: origin + RoutePath.mailLink(token)
            case .recovery: origin + RoutePath.resetPassword(token)
            case .unlock: origin + RoutePath.unlock(token)
            case .activation: origin + PhoneTicket.path(token)
            case .welcome: origin + RoutePath.setUp(token)
            }
        }
    }

    private func view(of message: OutgoingMessage, origin: String) -> View {
        let texts = MessageTexts.preferred(by: message.recipient.locale)
        let purpose = texts[message.purpose]
        let seconds = message.expiresAt.timeIntervalSince(message.origin.time)
        let name = look.name ?? message.organizationName
        let values = [
            "name": name, "app": message.applicationName ?? name, "code": message.code ?? "",
            "minutes": String(Int(clamping: (seconds / 60).rounded())), "hours": String(Int(clamping: (seconds / 3_600).rounded())),
            "days": String(Int(clamping: (seconds / 86_400).rounded())),
            "person": message.recipient.firstName ?? "",
        ]
        func filled(_ text: String) -> String { Self.filled(text, values) }
        return View(
            language: texts.language, subject: filled(purpose.subject), title: filled(purpose.title),
            greeting: filled(message.recipient.firstName == nil ? texts.greetingWithoutName : texts.greeting), lead: filled(purpose.lead),
            code: message.code, link: Self.link(message, origin: origin), linkText: filled(purpose.link),
            expiry: filled(texts.expiry(after: seconds)), warning: filled(texts.warning),
            short: filled(purpose.short), name: Self.oneLine(name), accent: look.accent, accentInk: look.accentInk)
    }

    private func spoken(_ message: OutgoingMessage, _ view: View) -> String {
        let texts = MessageTexts.preferred(by: message.recipient.locale)
        let digits = (message.code ?? "").map(String.init).joined(separator: ", ")
        return Self.filled(texts.spoken, ["name": view.name, "digits": digits])
    }

    /// Replaces placeholders in one pass, so that a value that looks like a placeholder is not replaced again.
    static func filled(_ text: String, _ values: [String: String]) -> String {
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            filled += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            filled += values[name].map(oneLine) ?? "{\(name)}"
            rest = rest[rest.index(after: close)...]
        }
        return filled + rest
    }

    /// Replaces line breaks and other control characters with spaces and truncates to 200 characters.
    private static func oneLine(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .format: " " as Unicode.Scalar
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func purpose(_ purpose: OutgoingMessage.Purpose) -> TelephoneMessage.Purpose {
        switch purpose {
        case .signIn: .verification
        case .enrollment, .activation, .welcome: .enrollment
        case .recovery: .passwordReset
        case .unlock: .accountUnlock
        }
    }
}

extension MessageWriter.Look {
    /// Creates a look from the branding of the hosted pages, in the light scheme: mails have a light background.
    init(_ branding: Branding) {
        self.init(name: branding.name)
        if let color = branding.accent { (accent, accentInk) = (color.hex, color.ink.hex) }
    }
}

/// Plain text without escaping: every value is already a single line.
private struct PlainContent: MustacheContentType {
    static let name = "PLAIN_MESSAGE"

    func escapeText(_ text: String) -> String { text }
}
