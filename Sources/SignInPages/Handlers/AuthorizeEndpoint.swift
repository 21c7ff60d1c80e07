internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// `/authorize`: accepts authorize requests (RFC 6749 section 3.1; Documentation/Protocol/OAuth.md §2.3), as the query of a GET or the
    /// form of a POST.
    static func authorize(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(.authorize, methods: [.get, .post], isCrossOrigin: false) { call in
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
            // Not counted against the client: it is not authenticated, so that any caller can name it.
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else {
                return ServerResponse.tooManyRequests(limit, to: request).traced(client: client)
            }
            // A `HEAD` request, such as of a link preview, must not consume a single-use token.
            guard request.head.method != .head else { return ServerResponse(status: .ok).uncached() }
            let answer = try await engine.authorize(
                parameters, server: call.server.id, isForm: isPost, browser: pages.cookies(for: call).read(request),
                context: request.context)
            return pages.response(answer, to: call).traced(client: client)
        }
    }
}
