internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// `/logout`: signs the user out (OpenID Connect RP-Initiated Logout 1.0; Documentation/Protocol/OAuth.md §2.13), by the query of a GET
    /// or the form of a POST.
    static func logout(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(.logout, methods: [.get, .post], isCrossOrigin: false) { call in
            let request = call.request
            let isPost = request.head.method == .post
            guard !isPost || (ProtocolForm.isForm(request.head.headerFields[.contentType]) && !request.isTooLarge) else {
                return pages.message(\.unreadableForm, status: .badRequest, to: call)
            }
            let parameters: AuthorizationParameters
            do {
                let form = try FormParameters(parsing: isPost ? request.body : Array((request.query ?? "").utf8), keepsRepeated: true)
                parameters = AuthorizationParameters(form.values, repeated: form.repeated)
            } catch let failure as FormParameters.Failure {
                let refusal = Refusal(.invalidRequest, failure.description, reason: failure.description)
                return pages.refusal(HostedRefusal(badRequest: refusal), to: call)
            }
            let client = parameters.values["client_id"]
            // Not counted against the client: it is not authenticated, so that any caller can name it.
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call).traced(client: client) }
            // A `HEAD` request, such as of a link preview, must not sign the user out.
            guard request.head.method != .head else { return ServerResponse(status: .ok).uncached() }
            let browser = pages.cookies(for: call).read(request)
            let formToken = isPost ? parameters.values["form_token"] : nil
            if isPost, formToken == nil, browser.session == nil, parameters.values["id_token_hint"] == nil {
                // Browsers send no cookies with a form that another site posts, but send them with the redirected request.
                return pages.goOn(to: "\(request.path)" + LogoutForm.query(parameters)).uncached().traced(client: client)
            }
            let answer = try await engine.logout(
                parameters, formToken: formToken, server: call.server.id, browser: browser, context: request.context)
            return pages.response(answer, to: call).traced(client: client)
        }
    }
}

/// Creates the query that repeats a logout request in a URL. It contains only the parameters that are not secret.
enum LogoutForm {
    private static let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    static func query(_ parameters: AuthorizationParameters) -> String {
        let pairs = ["client_id", "post_logout_redirect_uri", "state", "ui_locales"].compactMap { name in
            parameters.values[name]?.addingPercentEncoding(withAllowedCharacters: unreserved).map { "\(name)=\($0)" }
        }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }
}

extension PageWriter {
    func response(_ answer: LogoutAnswer, to call: Endpoint.Call) -> ServerResponse {
        let organization = call.snapshot.organization.name
        var response: ServerResponse
        switch answer.outcome {
        case .redirect(let location): response = goOn(to: location)
        case .refused(let refusal): response = self.refusal(refusal, to: call)
        case .signedOut:
            let texts = texts(for: call.request)
            response = html(
                PageView(texts, organization: organization, title: texts.flows.signedOutTitle, lead: texts.flows.signedOut),
                template: .message)
        case .confirm(let question):
            let texts = texts(for: call.request, asked: question.locales)
            var view = PageView(
                texts, organization: organization, title: texts.flows.signOutTitle,
                lead: question.applicationName == nil ? texts.flows.signOutLead : texts.flows.signOutLeadOfApplication,
                application: question.applicationName ?? "")
            view.action = String(call.request.path)
            view.formToken = question.formToken
            view.parameters = question.parameters.map { PageView.Parameter(name: $0.name, value: $0.value) }
            response = html(view, template: .signout, formsTo: question.returnURI ?? call.snapshot.origin)
        }
        if answer.endsCookie { cookies(for: call).endSession(in: &response) }
        return response.uncached()
    }
}
