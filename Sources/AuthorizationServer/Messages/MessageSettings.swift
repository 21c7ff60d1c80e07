package import Delivery
package import IdentityCore
internal import JOSE
package import Logging

/// Settings for sending mails, texts and calls: the section `messages` of the org file. Descriptions redact secrets.
package struct MessageSettings: Sendable, Equatable {
    package struct Mail: Sendable, Equatable, Redacted {
        package var host: String
        /// The port; `nil` for the default port.
        package var port: Int?
        package var security: SMTPConfiguration.Security
        /// The user name for SMTP authentication; `nil` for none.
        package var user: String?
        package var password: String?
        /// The address in the `From` header.
        package var from: String
        /// The display name in the `From` header; `nil` for none.
        package var fromName: String?

        package init(
            host: String, port: Int? = nil, security: SMTPConfiguration.Security = .startTLS, user: String? = nil, password: String? = nil,
            from: String, fromName: String? = nil
        ) {
            self.host = host
            self.port = port
            self.security = security
            self.user = user
            self.password = password
            self.from = from
            self.fromName = fromName
        }
    }

    /// A telephony webhook that sends texts and places calls.
    package struct Telephony: Sendable, Equatable, Redacted {
        package var url: String
        /// The name of the header that contains ``secret``.
        package var header: String
        package var secret: String?
        /// The key that signs request bodies; `nil` for unsigned bodies.
        package var signingKey: String?

        package init(url: String, header: String = "Authorization", secret: String? = nil, signingKey: String? = nil) {
            self.url = url
            self.header = header
            self.secret = secret
            self.signingKey = signingKey
        }
    }

    /// The mail server; with `nil`, no mail is sent.
    package var mail: Mail?
    /// The telephony webhook; with `nil`, no texts are sent and no calls are placed.
    package var telephony: Telephony?

    package init(mail: Mail? = nil, telephony: Telephony? = nil) {
        self.mail = mail
        self.telephony = telephony
    }

    /// Returns the startup message about telephony costs, with the allowed countries and the rate limit; `nil` without telephony. The
    /// message is a warning if all countries are allowed.
    package func announcement(for organization: OrganizationDefinition) -> (text: String, isWarning: Bool)? {
        guard telephony != nil else { return nil }
        let most = "at most \(organization.rateLimits.messages) messages a minute (rate_limits: messages)"
        guard let codes = organization.callingCodes else {
            return (
                "Texts and calls go to every country, numbers that cost much among them, \(most). Name the countries: calling_codes.", true
            )
        }
        let countries = codes.isEmpty ? "no country" : codes.map { "+\($0)" }.joined(separator: ", ")
        return ("Texts and calls go to \(countries); \(most).", false)
    }

    /// Returns the configured sender and a function that closes its connections. The sender connects at the first message. The webhook
    /// receives the organization's `origin`.
    /// - Throws: `MessageConfigurationError` if a setting is invalid.
    package func makeSender(origin: String, logger: Logger) throws -> (sender: MessageRouter, shutdown: @Sendable () async -> Void) {
        let smtp = try mail.map { SMTPSender(try $0.configuration(), logger: logger) }
        let hook = try telephony.map { try TelephonyHookSender($0.configuration(origin: origin), logger: logger) }
        return (MessageRouter(mail: smtp, telephone: hook), { await hook?.shutdown() })
    }
}

extension MessageSettings.Mail {
    func configuration() throws -> SMTPConfiguration {
        try SMTPConfiguration(
            host: host, port: port, security: security, credentials: user.map { .init(user: $0, password: password ?? "") },
            sender: MailSender(address: from, name: fromName))
    }
}

extension MessageSettings.Telephony {
    func configuration(origin: String) -> TelephonyHookSender.Configuration {
        .init(url: url, headerName: header, secret: secret, signingKey: signingKey, source: origin)
    }
}

extension MessageSettings: Redacted {
    package var description: String { "MessageSettings(mail: \(mail != nil), telephony: \(telephony != nil))" }
}
