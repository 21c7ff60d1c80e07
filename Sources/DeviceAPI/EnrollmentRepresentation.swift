internal import Foundation
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// The JSON that devices receive (Documentation/Protocol/Devices.md §2.4 and §2.5.3). It contains only values that the official client can
/// decode.
struct EnrollmentRepresentation: Sendable {
    let origin: String

    /// Returns the JSON of an enrollment. It omits the device's profile, because the client rejects the whole response if it does not know
    /// one value.
    func enrollment(_ enrollment: Enrollment, _ method: PushMethod, _ device: Device, of user: User) -> JSONValue {
        [
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
                    "links": [
                        "pending": ["href": .string(origin + RoutePath.pendingChallenges(enrollment.id)), "hints": ["allow": ["GET"]]]
                    ],
                ]
            ],
            "links": ["self": ["href": .string(origin + RoutePath.enrollment(enrollment.id)), "hints": ["allow": ["PATCH", "DELETE"]]]],
        ]
    }

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
            "appAuthenticatorEnrollEndpoint": .string(origin + RoutePath.enrollments.pattern),
        ]
    }

    /// Returns a time with fractional seconds and `Z`. The official client decodes any other form as the distant past.
    private static func text(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
