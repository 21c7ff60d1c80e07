internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
internal import QRCode
package import ServerHTTP

/// What pages and apps load while a factor is set up (authn reference 4.15), below `/api/v1/users/{id}/factors`.
package enum UserFactorRoute: Hashable, Sendable {
    /// The security questions that can be chosen.
    case questions
    /// The picture by which an app is set up.
    case picture(user: String, factor: String, token: String)

    /// The names of the routes, for metrics.
    package static let names = ["users/{id}/factors/questions", "users/{id}/factors/{id}/qr/{token}"]

    /// Finds the route of a path; nil for any other path.
    package init?(_ path: [Substring]) {
        guard path.count > 5, path.starts(with: ["api", "v1", "users"]), path[4] == "factors",
            path.allSatisfy({ (1...100).contains($0.utf8.count) })
        else { return nil }
        if path.count == 6, path[5] == "questions" {
            self = .questions
        } else if path.count == 8, path[6] == "qr" {
            self = .picture(user: String(path[3]), factor: String(path[5]), token: String(path[7]))
        } else {
            return nil
        }
    }
}

extension Endpoint {
    /// The endpoint of such a path. The questions are the same for everybody, so they tell nothing of anybody. Whoever knows a picture's
    /// path may see it: its last part is a secret, and the picture is there as long as the factor waits to be shown to work.
    package static func userFactor(_ route: UserFactorRoute, _ engine: Engine) -> Endpoint {
        switch route {
        case .questions:
            Endpoint(name: UserFactorRoute.names[0], methods: [.get], isCrossOrigin: true, readers: .trustedOrigins) { call in
                let questions = SecurityQuestion.all.map { question -> JSONValue in
                    ["question": .string(question.key), "questionText": .string(question.text)]
                }
                return ServerResponse(json: JSONValue.array(questions).serialized()).counted(call, by: engine)
            }
        case .picture(let user, let factor, let token):
            Endpoint(name: UserFactorRoute.names[1], methods: [.get], isCrossOrigin: true, readers: .trustedOrigins) { call in
                let text = try await engine.classicPicture(userID: user, factorID: factor, token: token, context: call.request.context)
                guard let text, let symbol = try? QRSymbol(text) else {
                    let refusal = ClassicRefusal(
                        code: "E0000007", status: 404, summary: "Not found: there is no such picture, or no longer.",
                        reason: "authn: picture")
                    return ServerResponse.refusal(refusal, to: call.request).uncached().counted(call, by: engine)
                }
                // For terminals, which draw it themselves. Apps send `application/json`, and get the picture.
                if call.request.head.headerFields[.accept] == "text/plain" {
                    return ServerResponse(status: .ok, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
                        .uncached().counted(call, by: engine)
                }
                return ServerResponse(status: .ok, headers: [.contentType: "image/png"], body: symbol.png()).uncached()
                    .counted(call, by: engine)
            }
        }
    }
}
