internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import OAuthWire
package import ServerHTTP

extension Endpoint {
    /// `/authorize`: where clients send browsers (RFC 6749 section 3.1; oauth reference 2.3). The query of a GET, or the form of a POST.
    package static func authorize(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "authorize", methods: [.get, .post], isCrossOrigin: false) { call in
            let request = call.request
            let isPost = request.head.method == .post
            guard !isPost || (ProtocolForm.isForm(request.head.headerFields[.contentType]) && !request.isTooLarge) else {
                return pages.message(\.unreadableForm, status: .badRequest, to: call)
            }
            let parameters: AuthorizationParameters
            do {
                let bytes = isPost ? request.body : Array((request.query ?? "").utf8)
                let form = try FormParameters(parsing: bytes, keepsRepeated: true)
                parameters = AuthorizationParameters(form.values, repeated: form.repeated)
            } catch let failure as FormParameters.Failure {
                let refusal = Refusal(.invalidRequest, failure.description, reason: failure.description)
                return pages.refusal(HostedRefusal(badRequest: refusal), to: call)
            }
            let client = parameters.values["client_id"]
            // Not against the client, whose requests are its own: anybody can name it here.
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else {
                return ServerResponse.tooManyRequests(limit, to: request).traced(client: client)
            }
            // Who looks without taking, as a preview does, must not use up what is good once.
            guard request.head.method != .head else { return ServerResponse(status: .ok).uncached() }
            let answer = try await engine.authorize(
                parameters, server: call.server.id, isForm: isPost, browser: pages.cookies(for: call).read(request),
                context: request.context)
            call.courier.deliver(answer.logouts)
            return pages.response(answer, to: call).traced(client: client)
        }
    }
}
