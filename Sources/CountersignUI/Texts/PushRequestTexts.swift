internal import AuthFoundation
public import Foundation

extension SignInTexts {
    /// The texts of `PushRequestView`.
    public struct Requests: Sendable, Hashable {
        /// The title of the screen.
        public var title: String
        /// The text that is shown without a pending request.
        public var none: String
        /// The button that fetches requests.
        public var check: String
        /// The number of pending requests if there are several, with `%@` for it.
        public var several: String
        /// The instruction above the list of requests.
        public var choose: String
        /// The button that leads from a request to the list of all requests.
        public var showAll: String
        /// The result of the last answer while another request is pending, with `%@` for it.
        public var previous: String
        /// The progress while the servers are asked.
        public var checking: String
        /// The question of a sign-in, with `%@` for the app.
        public var question: String
        /// The question of a request without a sign-in (CIBA), with `%@` for the app.
        public var approvalQuestion: String
        /// An app whose name is not known.
        public var anApp: String
        /// The label of the account.
        public var account: String
        /// The label of the account's organization.
        public var organization: String
        /// The label of the message of a request without a sign-in.
        public var message: String
        /// The label of the place.
        public var place: String
        /// The label of the operating system.
        public var system: String
        /// The label of the time at which the request was made.
        public var time: String
        /// A detail that is not known.
        public var unknown: String
        /// The note for a request that cannot be approved, because its signature could not be checked yet.
        public var notVerified: String
        /// The instruction above the numbers.
        public var selectNumber: String
        /// The text that VoiceOver speaks for a number, with `%@` for it.
        public var approveWithNumber: String
        /// The button that approves.
        public var approve: String
        /// The button that denies.
        public var deny: String
        /// The button that denies and reports the request as suspicious.
        public var notMe: String
        /// The progress while the answer is sent.
        public var sending: String
        /// The result of an approval.
        public var approved: String
        /// The result of an approval without the user verification that the organization prefers.
        public var approvedUnverified: String
        /// The result of a denial.
        public var denied: String
        /// The result of a denial that was reported as suspicious.
        public var reported: String
        /// The request was answered, has expired or was cancelled.
        public var over: String
        /// The user was not verified, so the request was not approved.
        public var userNotVerified: String
        /// The organization requires user verification, which the account does not have.
        public var verificationMissing: String
        /// The request is not from the organization.
        public var untrusted: String
        /// The account is not on this device, or the organization has removed or suspended it.
        public var accountUnusable: String
        /// The server cannot be reached.
        public var offline: String
        /// Another failure.
        public var failed: String

        init(_ text: (_ key: String, _ builtIn: LocalizedText) -> String) {
            title = text("requests.title", LocalizedText("Sign-in requests", de: "Anmeldeanfragen"))
            none = text("requests.none", LocalizedText("No requests", de: "Keine Anfragen"))
            check = text("requests.check", LocalizedText("Check for requests", de: "Anfragen abrufen"))
            several = text("requests.several", LocalizedText("%@ pending requests", de: "%@ offene Anfragen"))
            choose = text(
                "requests.choose",
                LocalizedText(
                    "Open a request to answer it. Deny requests that you did not start.",
                    de: "Öffnen Sie eine Anfrage, um sie zu beantworten. Lehnen Sie Anfragen ab, die Sie nicht gestartet haben.")
            )
            showAll = text("requests.showAll", LocalizedText("Show all requests", de: "Alle Anfragen anzeigen"))
            previous = text("requests.previous", LocalizedText("Previous request: %@", de: "Vorherige Anfrage: %@"))
            checking = text("requests.checking", LocalizedText("Checking…", de: "Anfragen werden abgerufen …"))
            question = text("requests.question", LocalizedText("Are you trying to sign in to %@?", de: "Melden Sie sich gerade bei %@ an?"))
            approvalQuestion = text(
                "requests.approvalQuestion", LocalizedText("%@ asks for your approval", de: "%@ bittet um Ihre Zustimmung"))
            anApp = text("requests.anApp", LocalizedText("an app", de: "einer App"))
            account = text("requests.account", LocalizedText("Account", de: "Konto"))
            organization = text("requests.organization", LocalizedText("Organization", de: "Organisation"))
            message = text("requests.message", LocalizedText("Message", de: "Nachricht"))
            place = text("requests.place", LocalizedText("Place", de: "Ort"))
            system = text("requests.system", LocalizedText("System", de: "System"))
            time = text("requests.time", LocalizedText("Time", de: "Zeit"))
            unknown = text("requests.unknown", LocalizedText("Unknown", de: "Unbekannt"))
            notVerified = text(
                "requests.notVerified",
                LocalizedText(
                    "You can't approve this request yet, because its sender can't be checked. Check again.",
                    de: "Sie können noch nicht zustimmen, weil der Absender nicht geprüft werden kann. Prüfen Sie erneut."))
            selectNumber = text(
                "requests.selectNumber",
                LocalizedText("Select the number that the sign-in shows.", de: "Wählen Sie die Zahl, die die Anmeldung zeigt."))
            approveWithNumber = text(
                "requests.approveWithNumber", LocalizedText("Approve with the number %@", de: "Mit der Zahl %@ zustimmen"))
            approve = text("requests.approve", LocalizedText("Approve", de: "Zustimmen"))
            deny = text("requests.deny", LocalizedText("Deny", de: "Ablehnen"))
            notMe = text("requests.notMe", LocalizedText("It wasn't me", de: "Das war ich nicht"))
            sending = text("requests.sending", LocalizedText("Sending your answer…", de: "Antwort wird gesendet …"))
            approved = text("requests.approved", LocalizedText("Approved", de: "Zugestimmt"))
            approvedUnverified = text(
                "requests.approvedUnverified",
                LocalizedText(
                    "Approved. You could not be verified, and your organization was notified.",
                    de: "Zugestimmt. Sie konnten nicht verifiziert werden; Ihre Organisation wurde benachrichtigt."))
            denied = text("requests.denied", LocalizedText("Denied", de: "Abgelehnt"))
            reported = text(
                "requests.reported", LocalizedText("Denied and reported as suspicious", de: "Abgelehnt und als verdächtig gemeldet"))
            over = text("requests.over", LocalizedText("This request is no longer pending.", de: "Diese Anfrage ist nicht mehr offen."))
            userNotVerified = text(
                "requests.userNotVerified",
                LocalizedText(
                    "You could not be verified, so the request was not approved. Start the sign-in again.",
                    de: "Sie konnten nicht verifiziert werden, daher wurde nicht zugestimmt. Beginnen Sie die Anmeldung erneut."))
            verificationMissing = text(
                "requests.verificationMissing",
                LocalizedText(
                    "Your organization requires user verification. Turn it on for this account.",
                    de: "Ihre Organisation verlangt eine Benutzerverifizierung. Schalten Sie sie für dieses Konto ein."))
            untrusted = text(
                "requests.untrusted",
                LocalizedText(
                    "This request is not from your organization. Ignore it.",
                    de: "Diese Anfrage ist nicht von Ihrer Organisation. Ignorieren Sie sie."))
            accountUnusable = text(
                "requests.accountUnusable",
                LocalizedText(
                    "This account can't be used on this device. Add it again, or ask your administrator.",
                    de:
                        "Dieses Konto ist hier nicht verwendbar. Fügen Sie es neu hinzu, oder wenden Sie sich an die Administration."
                ))
            offline = text(
                "requests.offline",
                LocalizedText(
                    "The server can't be reached. Check your connection and try again.",
                    de: "Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut."))
            failed = text(
                "requests.failed",
                LocalizedText("Something went wrong. Try again.", de: "Etwas ist schiefgelaufen. Versuchen Sie es erneut."))
        }
    }

    /// Returns the question that the user answers for a request.
    public func question(of request: PushRequest) -> String {
        let text = request.isBackchannel ? requests.approvalQuestion : requests.question
        return text.replacing("%@", with: request.application ?? requests.anApp)
    }

    /// A detail of a request, such as the place.
    public struct RequestDetail: Sendable, Hashable, Identifiable {
        /// The name of the detail.
        public let label: String
        /// The text of the detail.
        public let value: String

        /// The label, which is unique in a request.
        public var id: String { label }
    }

    /// Returns the details that the user needs for the answer, the most important first.
    /// - Parameters:
    ///   - locale: The language of the time.
    ///   - timeZone: The time zone of the time.
    public func details(of request: PushRequest, locale: Locale = .current, timeZone: TimeZone = .current) -> [RequestDetail] {
        let format = Date.FormatStyle(date: .omitted, time: .shortened, locale: locale, timeZone: timeZone)
        return [
            request.userName.map { RequestDetail(label: requests.account, value: $0) },
            request.organization.map { RequestDetail(label: requests.organization, value: $0) },
            request.message.map { RequestDetail(label: requests.message, value: $0) },
            RequestDetail(label: requests.place, value: request.place ?? requests.unknown),
            RequestDetail(label: requests.system, value: request.system ?? requests.unknown),
            RequestDetail(label: requests.time, value: request.time.formatted(format)),
        ].compactMap(\.self)
    }

    /// Returns the details that distinguish a request in a list, the most important first, in one line.
    /// - Parameters:
    ///   - locale: The language of the time.
    ///   - timeZone: The time zone of the time.
    public func summary(of request: PushRequest, locale: Locale = .current, timeZone: TimeZone = .current) -> String {
        let format = Date.FormatStyle(date: .omitted, time: .shortened, locale: locale, timeZone: timeZone)
        return [request.userName, request.organization, request.place, request.time.formatted(format)].compactMap(\.self)
            .joined(separator: " · ")
    }

    /// Returns the text of an answered request.
    public func message(of outcome: PushRequestOutcome) -> String {
        switch outcome {
        case .approved: requests.approved
        case .approvedUnverified: requests.approvedUnverified
        case .reported: requests.reported
        default: requests.denied
        }
    }

    /// Returns the text of the last answer while another request is pending.
    public func previous(_ outcome: PushRequestOutcome) -> String { requests.previous.replacing("%@", with: message(of: outcome)) }

    /// Returns the text for several pending requests; `nil` for fewer than two.
    public func several(_ count: Int) -> String? { count < 2 ? nil : requests.several.replacing("%@", with: String(count)) }

    /// Returns the message of a problem with a request.
    public func message(for problem: PushRequestProblem) -> String {
        switch problem.code {
        case .over: requests.over
        case .userNotVerified: requests.userNotVerified
        case .verificationMissing: requests.verificationMissing
        case .untrusted: requests.untrusted
        case .accountUnusable: requests.accountUnusable
        case .offline: requests.offline
        default: requests.failed
        }
    }
}
