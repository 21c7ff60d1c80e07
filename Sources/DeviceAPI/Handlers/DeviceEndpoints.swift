internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP

/// What devices call to enrol, keep up and answer (device-authenticator reference 2.2; the letters are its).
extension Endpoint {
    /// Every endpoint of the device API, for the front door's list.
    package static func devices(_ engine: Engine) -> [DeviceRoute: Endpoint] {
        [
            .organization: organization(engine), .configuration: authenticatorConfiguration(engine), .enrollments: enroll(engine),
            .enrollment: enrollment(engine), .pendingChallenges: pendingChallenges(engine), .challengeAnswer: challengeAnswer(engine),
        ]
    }

    /// A: who the organization is. The official client's first request, without any header that means something.
    private static func organization(_ engine: Engine) -> Endpoint {
        Endpoint(name: DeviceRoute.organization.rawValue, methods: [.get], isCrossOrigin: true) { call in
            let json: JSONValue = [
                "id": .string(call.snapshot.id), "_links": ["organization": ["href": .string(call.snapshot.origin)]],
            ]
            return ServerResponse(json: json.serialized()).counted(call, by: engine)
        }
    }

    /// B: the authenticators that are linked to a client.
    private static func authenticatorConfiguration(_ engine: Engine) -> Endpoint {
        Endpoint(device: DeviceRoute.configuration.rawValue, methods: [.get], engine: engine) { call in
            // A query that cannot be read names no client, which the engine refuses.
            let query = call.request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
            return ServerResponse(
                json: try await engine.authenticatorConfiguration(
                    clientID: query?["oauthClientId"], authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// C: enrol.
    private static func enroll(_ engine: Engine) -> Endpoint {
        Endpoint(device: DeviceRoute.enrollments.rawValue, methods: [.post], engine: engine) { call in
            ServerResponse(
                json: try await engine.enrollDevice(
                    call.deviceBody(), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// D and E: change, delete.
    private static func enrollment(_ engine: Engine) -> Endpoint {
        Endpoint(device: DeviceRoute.enrollment.rawValue, methods: [.patch, .delete], engine: engine) { call in
            let id = call.pathComponent(3)
            if call.request.head.method == .delete {
                try await engine.deleteDeviceEnrollment(id: id, authorization: call.deviceAuthorization, context: call.request.context)
                    .get()
                return ServerResponse(status: .noContent)
            }
            return ServerResponse(
                json: try await engine.updateDeviceEnrollment(
                    id: id, patch: call.deviceBody(), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// F: what waits for an answer.
    private static func pendingChallenges(_ engine: Engine) -> Endpoint {
        Endpoint(device: DeviceRoute.pendingChallenges.rawValue, methods: [.get], engine: engine) { call in
            ServerResponse(
                json: try await engine.pendingChallenges(
                    enrollmentID: call.pathComponent(3), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// G: answer. The signed token in the body is the only proof; an `Authorization` header is not looked at.
    private static func challengeAnswer(_ engine: Engine) -> Endpoint {
        Endpoint(device: DeviceRoute.challengeAnswer.rawValue, methods: [.post], engine: engine) { call in
            switch try await engine.answerChallenge(
                id: call.pathComponent(4), body: call.deviceBody(), context: call.request.context
            ).get() {
            case .approved: ServerResponse(json: JSONValue.object([:]).serialized())
            case .denied: ServerResponse(status: .noContent)
            }
        }
    }
}

/// The endpoints that devices call, by their names for logs and metrics; they belong to the organization, not to one of its
/// authorization servers.
package enum DeviceRoute: String, Sendable {
    case organization = ".well-known/okta-organization"
    case configuration = ".well-known/app-authenticator-configuration"
    case enrollments = "app-authenticators"
    case enrollment = "app-authenticators/{id}"
    case pendingChallenges = "app-authenticators/{id}/push/notifications"
    case challengeAnswer = "app-authenticators/challenge/{id}/verify"

    /// Finds the endpoint of a path; nil for any other path.
    ///
    /// - Parameter path: Its components, as ``ServerRequest/components`` has them.
    package init?(_ path: [Substring]) {
        switch path.count {
        case 2 where path[0] == ".well-known":
            switch path[1] {
            case "okta-organization": self = .organization
            case "app-authenticator-configuration": self = .configuration
            default: return nil
            }
        case 3... where path[0] == "idp" && path[1] == "myaccount" && path[2] == "app-authenticators":
            self.init(below: Array(path[3...]))
        default: return nil
        }
    }

    private init?(below path: [Substring]) {
        switch path.count {
        case 0: self = .enrollments
        case 1 where !path[0].isEmpty: self = .enrollment
        case 3 where path[0] == "challenge" && !path[1].isEmpty && path[2] == "verify": self = .challengeAnswer
        case 3 where !path[0].isEmpty && path[1] == "push" && path[2] == "notifications": self = .pendingChallenges
        default: return nil
        }
    }
}
