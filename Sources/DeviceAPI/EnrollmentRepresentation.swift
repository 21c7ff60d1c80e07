internal import Foundation
internal import IdentityCore
internal import JOSE

/// What devices are told, as the official client decodes it: nothing but values that it knows (device-authenticator reference 2.4 and
/// 2.5.3).
struct EnrollmentRepresentation: Sendable {
    static let path = "/idp/myaccount/app-authenticators"

    let origin: String

    /// An enrolment. The device's profile is left out: one value that is unknown to a client fails the whole answer.
    func enrollment(_ enrollment: Enrollment, _ method: PushMethod, _ device: Device, of user: User) -> JSONValue {
        let own = origin + Self.path + "/" + enrollment.id
        return [
            "id": .string(enrollment.id), "authenticatorId": .string(method.authenticatorID),
            "createdDate": .string(Self.text(enrollment.createdAt)),
            "lastUpdated": .string(Self.text(enrollment.updatedAt ?? enrollment.createdAt)),
            "user": ["id": .string(user.id), "username": .string(user.login)],
            "device": [
                "id": .string(device.id), "status": .string(device.status.rawValue), "clientInstanceId": .string(device.clientInstanceID),
            ],
            "methods": [
                "push": [
                    "id": .string(method.id),
                    "links": ["pending": ["href": .string(own + "/push/notifications"), "hints": ["allow": ["GET"]]]],
                ]
            ],
            "links": ["self": ["href": .string(own), "hints": ["allow": ["PATCH", "DELETE"]]]],
        ]
    }

    /// An authenticator's metadata.
    func authenticator(_ authenticator: PushAuthenticator, organizationID: String) -> JSONValue {
        [
            "authenticatorId": .string(authenticator.id), "orgId": .string(organizationID), "key": .string(authenticator.kind.rawValue),
            "name": .string(authenticator.name),
            "settings": [
                "userVerification": .string(authenticator.userVerification.rawValue), "oauthClientId": .string(authenticator.clientID),
            ],
            "supportedMethods": [
                [
                    "type": "push", "status": "ACTIVE",
                    "settings": [
                        "algorithms": ["ES256", "RS256"], "keyProtection": "ANY", "transactionTypes": ["LOGIN", "CIBA"],
                    ],
                ]
            ],
            "appAuthenticatorEnrollEndpoint": .string(origin + Self.path),
        ]
    }

    /// With a fraction and `Z`: any other form becomes the distant past on the official client.
    private static func text(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
