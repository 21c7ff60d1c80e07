import DeviceAuthenticator
import Foundation
import JOSE

/// The details of an enrollment that are shown to the user.
struct EnrollmentSummary {
    let id: String
    let user: String
    let organization: String
    let clientID: String
    let verifiesUser: Bool
    let answersCIBA: Bool
    let state: String

    init(_ enrollment: AuthenticatorEnrollment) {
        id = enrollment.enrollmentId
        user = enrollment.user.name ?? enrollment.user.id
        organization = enrollment.organization.url.absoluteString
        clientID = enrollment.oidcClientId
        verifiesUser = enrollment.userVerificationEnabled
        answersCIBA = enrollment.isCIBAEnabled
        state =
            switch enrollment.enrollmentState {
            case .active: "active"
            case .suspended: "suspended"
            case .deleted, .reset: "deleted"
            }
    }

    var line: TerminalText {
        let features = [verifiesUser ? "PIN" : nil, answersCIBA ? "CIBA" : nil, state == "active" ? nil : state].compactMap { $0 }
        let end: TerminalText = features.isEmpty ? "" : "  (\(features.joined(separator: ", ")))"
        return "\(id)  \(user)  \(clientID) at \(organization)\(end)"
    }

    var json: JSONValue {
        [
            "id": .string(id), "user": .string(user), "organization": .string(organization), "client_id": .string(clientID),
            "user_verification": .bool(verifiesUser), "ciba": .bool(answersCIBA), "state": .string(state),
        ]
    }
}
