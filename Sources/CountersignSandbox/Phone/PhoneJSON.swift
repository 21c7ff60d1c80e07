internal import DeviceAuthenticator
internal import Foundation
internal import JOSE

/// Phones in the JSON of the control API and the phones' page. Times are seconds since 1970.
extension VirtualPhone {
    var json: JSONValue {
        let enrollments = enrollments
        return [
            "login": .string(login), "requests": .array(waiting.map(\.json)), "history": .array(history.map(\.json)),
            "enrollments": .array(enrollments.map(Self.json)),
            "user_verification": .bool(enrollments.first?.userVerificationEnabled ?? false),
            "ciba": .bool(enrollments.first?.isCIBAEnabled ?? false), "auto_approve": .bool(autoApprove), "offline": .bool(isOffline),
            "delay": .double(delay), "delivers_twice": .bool(deliversTwice), "picks_wrong_number": .bool(picksWrongNumber),
            "verification": .string(verification.rawValue),
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
