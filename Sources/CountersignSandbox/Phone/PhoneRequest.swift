internal import DeviceAuthenticator
public import Foundation

extension VirtualPhone {
    /// A request that a phone shows, after the organization's signature on it was checked.
    public struct Request: Sendable, Equatable, Identifiable {
        /// The id of the request; the same however often it is delivered.
        public let id: String
        /// The app that somebody signs in to.
        public let applicationName: String
        /// Where the sign-in was started, as far as the server tells.
        public let location: String?
        /// The system that the sign-in was started on, such as `LINUX`.
        public let clientOS: String?
        /// When it was made, by the server's clock.
        public let time: Date
        /// Until when it can be answered, by the server's clock.
        public let expiresAt: Date
        /// The numbers of which the one that the sign-in shows has to be picked to approve; nil if none has to be.
        public let numberChoices: [String]?
        /// The text of a back-channel request, which the person confirms; nil for a sign-in, or if there is none.
        public let bindingMessage: String?
        /// Whether it is a back-channel request, with or without a message, and not a sign-in.
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

    /// A request that is over, and how it ended.
    public struct HistoryEntry: Sendable, Equatable {
        /// How a request ended, as far as the phone knows.
        public enum Outcome: Sendable, Equatable {
            /// The approval was delivered.
            case approved
            /// The denial was delivered.
            case denied
            /// The server took the answer for no approval, for this reason.
            case failed(String)
            /// Nobody answered in time.
            case expired
            /// It was withdrawn: the sign-in was given up where it was started, or another device answered.
            case cancelled
        }

        /// The request.
        public let request: Request
        /// How it ended.
        public let outcome: Outcome
        /// When, by the sandbox's clock.
        public let at: Date
    }
}
