internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP

/// The endpoints of the device API (Documentation/Protocol/Devices.md §2.2).
extension Endpoint {
    package static func devices(_ engine: Engine) -> [Endpoint] {
        [
            organization(engine), authenticatorConfiguration(engine), enroll(engine), enrollment(engine), pendingChallenges(engine),
            challengeAnswer(engine),
        ]
    }

    /// Returns the organization's metadata. The official client requests it first, without the headers of the other requests.
    private static func organization(_ engine: Engine) -> Endpoint {
        Endpoint("/.well-known/okta-organization", methods: [.get], isCrossOrigin: true) { call in
            let json: JSONValue = [
                "id": .string(call.snapshot.id), "_links": ["organization": ["href": .string(call.snapshot.origin)]],
            ]
            return ServerResponse(json: json.serialized()).counted(call, by: engine)
        }
    }

    /// Returns the authenticators that are linked to a client.
    private static func authenticatorConfiguration(_ engine: Engine) -> Endpoint {
        Endpoint(device: "/.well-known/app-authenticator-configuration", methods: [.get], engine: engine) { call in
            // The engine refuses an unreadable query as a query without a client.
            let query = call.request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
            return ServerResponse(
                json: try await engine.authenticatorConfiguration(
                    clientID: query?["oauthClientId"], authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// Enrolls a device.
    private static func enroll(_ engine: Engine) -> Endpoint {
        Endpoint(device: .enrollments, methods: [.post], engine: engine) { call in
            ServerResponse(
                json: try await engine.enrollDevice(
                    call.deviceBody(), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// Changes or deletes an enrollment.
    private static func enrollment(_ engine: Engine) -> Endpoint {
        Endpoint(device: .enrollment, methods: [.patch, .delete], engine: engine) { call in
            let id = call.parameter(0)
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

    /// Returns the pending challenges.
    private static func pendingChallenges(_ engine: Engine) -> Endpoint {
        Endpoint(device: .pendingChallenges, methods: [.get], engine: engine) { call in
            ServerResponse(
                json: try await engine.pendingChallenges(
                    enrollmentID: call.parameter(0), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// Answers a challenge. The signed token in the body is the only proof; an `Authorization` header is ignored.
    private static func challengeAnswer(_ engine: Engine) -> Endpoint {
        Endpoint(device: RoutePath(ChallengeToken.answerPath("{id}")), methods: [.post], engine: engine) { call in
            switch try await engine.answerChallenge(
                id: call.parameter(0), body: call.deviceBody(), context: call.request.context
            ).get() {
            case .approved: ServerResponse(json: JSONValue.object([:]).serialized())
            case .denied: ServerResponse(status: .noContent)
            }
        }
    }
}

extension RoutePath {
    static let enrollments: RoutePath = "/idp/myaccount/app-authenticators"
    static let enrollment: RoutePath = "/idp/myaccount/app-authenticators/{id}"
    static let pendingChallenges: RoutePath = "/idp/myaccount/app-authenticators/{id}/push/notifications"
}
