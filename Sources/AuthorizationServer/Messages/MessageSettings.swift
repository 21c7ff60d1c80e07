package import Delivery
package import IdentityCore
internal import JOSE
package import Logging

/// How an organization sends mails, texts and calls: the section `messages` of the org file. A value; its descriptions show no secret.
package struct MessageSettings: Sendable, Equatable {
    /// A mail server.
    package struct Mail: Sendable, Equatable, Redacted {
        /// Its name.
        package var host: String
        /// Its port; nil for the usual one.
        package var port: Int?
        /// How the connection is encrypted.
        package var security: SMTPConfiguration.Security
        /// The name that it knows us by; nil if it asks for none.
        package var user: String?
        /// The password beside it.
        package var password: String?
        /// The address that mails are from.
        package var from: String
        /// The name beside it; nil for none.
        package var fromName: String?

        /// Describes a mail server.
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

    /// A telephony hook.
    package struct Telephony: Sendable, Equatable, Redacted {
        /// Its address.
        package var url: String
        /// The header that carries the secret.
        package var header: String
        /// What the header says; nil for none.
        package var secret: String?
        /// What bodies are signed with; nil for none.
        package var signingKey: String?

        /// Describes a hook.
        package init(url: String, header: String = "Authorization", secret: String? = nil, signingKey: String? = nil) {
            self.url = url
            self.header = header
            self.secret = secret
            self.signingKey = signingKey
        }
    }

    /// The mail server; nil sends no mail.
    package var mail: Mail?
    /// The telephony hook; nil sends no texts and places no calls.
    package var telephony: Telephony?

    /// Describes both.
    package init(mail: Mail? = nil, telephony: Telephony? = nil) {
        self.mail = mail
        self.telephony = telephony
    }

    /// What an operator is told at the start of what messages can cost: to which countries texts and calls go, and how many at most.
    ///
    /// - Parameter organization: The organization that they are of.
    /// - Returns: A sentence, and whether it is a warning; nil if nothing costs.
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

    /// What sends, as it is set; it connects when there is something to send.
    ///
    /// - Parameters:
    ///   - origin: The organization's, which the hook is told.
    ///   - logger: Where it logs.
    /// - Returns: The sender, and what ends its connections.
    /// - Throws: `MessageConfigurationError` if a setting will not do.
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
    /// Which ways there are.
    package var description: String { "MessageSettings(mail: \(mail != nil), telephony: \(telephony != nil))" }
}
