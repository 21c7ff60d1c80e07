internal import DeviceAuthenticator
public import Foundation
internal import JOSE

extension VirtualPhone {
    /// A request that a phone shows after it has verified the organization's signature.
    public struct Request: Sendable, Equatable, Identifiable {
        /// The ID of the request; the same for each delivery.
        public let id: String
        /// The name of the app that the user signs in to; a placeholder if the server does not send it.
        public let applicationName: String
        /// The location where the sign-in was started; `nil` if the server does not send it.
        public let location: String?
        /// The operating system on which the sign-in was started, such as `LINUX`; `nil` if the server does not send it.
        public let clientOS: String?
        /// The creation time, by the server's clock.
        public let time: Date
        /// The expiration time, by the server's clock.
        public let expiresAt: Date
        /// The numbers to choose from for an approval; `nil` for a request without numbers. The sign-in shows the correct number.
        public let numberChoices: [String]?
        /// The text of a back-channel request, which the user confirms; `nil` for a sign-in or without a text.
        public let bindingMessage: String?
        /// Whether the request is a back-channel (CIBA) request instead of a sign-in.
        public let isCIBA: Bool

        init(_ challenge: PushChallenge) {
            id = challenge.transactionId
            applicationName = challenge.appInstanceName ?? "An app without a name"
            location = challenge.clientLocation
            clientOS = challenge.clientOS
            time = challenge.transactionTime
            expiresAt = challenge.expirationTime
            numberChoices = challenge.numberChoices
            bindingMessage = challenge.cibaBindingMessage
            isCIBA = challenge.isCIBA
        }
    }

    /// A completed request and its outcome.
    public struct HistoryEntry: Sendable, Equatable {
        /// The outcome of a request, as far as the phone knows.
        public enum Outcome: Sendable, Equatable {
            /// The approval was delivered.
            case approved
            /// The denial was delivered.
            case denied
            /// The server rejected the answer, for this reason.
            case failed(String)
            /// The request expired without an answer.
            case expired
            /// The request was withdrawn: the sign-in was cancelled, or another device answered.
            case cancelled
        }

        /// The request.
        public let request: Request
        /// The outcome.
        public let outcome: Outcome
        /// The time of the outcome, by the sandbox's clock.
        public let at: Date
    }
}

/// Phones in the JSON of the control API and the phones' page. Times are seconds since 1970.
extension VirtualPhone {
    var json: JSONValue {
        [
            "login": .string(login), "requests": .array(waiting.map(\.json)), "history": .array(history.map(\.json)),
            "enrollments": .array(enrollments.map(Self.json)),
            "user_verification": .bool(userVerificationEnabled), "ciba": .bool(isCIBAEnabled), "auto_approve": .bool(autoApprove),
            "offline": .bool(isOffline), "delay": .double(delay), "delivers_twice": .bool(deliversTwice),
            "picks_wrong_number": .bool(picksWrongNumber), "verification": .string(verification.rawValue),
        ]
    }

    private static func json(_ enrollment: any AuthenticatorEnrollmentProtocol) -> JSONValue {
        [
            "id": .string(enrollment.enrollmentId), "user": .string(enrollment.user.name ?? enrollment.user.id),
            "organization": .string(enrollment.organization.url.absoluteString),
        ]
    }
}

extension VirtualPhone.Request {
    var json: JSONValue {
        [
            "id": .string(id), "application": .string(applicationName), "location": location.map(JSONValue.string) ?? .null,
            "client_os": clientOS.map(JSONValue.string) ?? .null, "time": .double(time.timeIntervalSince1970),
            "expires_at": .double(expiresAt.timeIntervalSince1970),
            "number_choices": numberChoices.map { .array($0.map(JSONValue.string)) } ?? .null,
            "ciba": .bool(isCIBA), "binding_message": bindingMessage.map(JSONValue.string) ?? .null,
        ]
    }
}

extension VirtualPhone.HistoryEntry {
    var json: JSONValue {
        let (name, reason): (String, String?) =
            switch outcome {
            case .approved: ("approved", nil)
            case .denied: ("denied", nil)
            case .failed(let reason): ("failed", reason)
            case .expired: ("expired", nil)
            case .cancelled: ("cancelled", nil)
            }
        return [
            "request": request.json, "outcome": .string(name), "reason": reason.map(JSONValue.string) ?? .null,
            "at": .double(at.timeIntervalSince1970),
        ]
    }
}
