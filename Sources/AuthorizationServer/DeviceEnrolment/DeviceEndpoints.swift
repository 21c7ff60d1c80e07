internal import Foundation
internal import HTTPTypes
internal import IdentityEngine
internal import JOSE

/// What devices call to enrol, keep up and answer (device-authenticator reference 2.2; the letters are its).
extension Endpoint {
    /// Every endpoint of the device API, for the front door's list.
    static func devices(_ engine: IdentityEngine) -> [DeviceRoute: Endpoint] {
        [
            .organization: organization(engine), .configuration: authenticatorConfiguration(engine), .enrollments: enroll(engine),
            .enrollment: enrollment(engine), .pendingChallenges: pendingChallenges(engine), .challengeAnswer: challengeAnswer(engine),
        ]
    }

    /// A: who the organization is. The official client's first request, without any header that means something.
    private static func organization(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(name: DeviceRoute.organization.rawValue, methods: [.get], isCrossOrigin: true) { call in
            let json: JSONValue = [
                "id": .string(call.snapshot.id), "_links": ["organization": ["href": .string(call.snapshot.origin)]],
            ]
            return ServerResponse(json: json.serialized()).counted(call, by: engine)
        }
    }

    /// B: the authenticators that are linked to a client.
    private static func authenticatorConfiguration(_ engine: IdentityEngine) -> Endpoint {
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
    private static func enroll(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(device: DeviceRoute.enrollments.rawValue, methods: [.post], engine: engine) { call in
            ServerResponse(
                json: try await engine.enrollDevice(
                    call.deviceBody(), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// D and E: change, delete.
    private static func enrollment(_ engine: IdentityEngine) -> Endpoint {
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
    private static func pendingChallenges(_ engine: IdentityEngine) -> Endpoint {
        Endpoint(device: DeviceRoute.pendingChallenges.rawValue, methods: [.get], engine: engine) { call in
            ServerResponse(
                json: try await engine.pendingChallenges(
                    enrollmentID: call.pathComponent(3), authorization: call.deviceAuthorization, context: call.request.context
                ).get().serialized())
        }
    }

    /// G: answer. The signed token in the body is the only proof; an `Authorization` header is not looked at.
    private static func challengeAnswer(_ engine: IdentityEngine) -> Endpoint {
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
