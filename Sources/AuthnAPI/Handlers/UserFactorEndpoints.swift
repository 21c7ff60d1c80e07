internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import QRCode
internal import ServerHTTP

extension RoutePath {
    static let questions: RoutePath = "/api/v1/users/{id}/factors/questions"
    static let picture: RoutePath = "/api/v1/users/{id}/factors/{id}/qr/{token}"
}

extension Endpoint {
    /// The endpoints that clients load during an enrollment (Documentation/Protocol/Authn.md §4.15). They need no authentication: the
    /// questions are the same for all users, and the last segment of a QR code's path is secret. The QR code exists only while the factor
    /// awaits its confirmation.
    static func userFactors(_ engine: Engine) -> [Endpoint] {
        [
            Endpoint(.questions, methods: [.get], isCrossOrigin: true, readers: .trustedOrigins) { call in
                let questions = SecurityQuestion.all.map { question -> JSONValue in
                    ["question": .string(question.key), "questionText": .string(question.text)]
                }
                return ServerResponse(json: JSONValue.array(questions).serialized()).counted(call, by: engine)
            },
            Endpoint(.picture, methods: [.get], isCrossOrigin: true, readers: .trustedOrigins) { call in
                let text = try await engine.classicPicture(
                    userID: call.parameter(0), factorID: call.parameter(1), token: call.parameter(2), context: call.request.context)
                guard let text, let symbol = try? QRSymbol(text) else {
                    let refusal = ClassicRefusal(
                        code: "E0000007", status: 404, summary: "Not found: there is no such picture, or no longer.",
                        reason: "authn: picture")
                    return ServerResponse.refusal(refusal, to: call.request).uncached().counted(call, by: engine)
                }
                // Terminals draw the QR code themselves. Apps send `application/json` and receive the image.
                if call.request.head.headerFields[.accept] == "text/plain" {
                    return ServerResponse(status: .ok, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
                        .uncached().counted(call, by: engine)
                }
                return ServerResponse(status: .ok, headers: [.contentType: "image/png"], body: symbol.png()).uncached()
                    .counted(call, by: engine)
            },
        ]
    }
}
