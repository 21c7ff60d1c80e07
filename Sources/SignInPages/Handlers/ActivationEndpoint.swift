internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import ServerHTTP

extension Endpoint {
    /// `/activate`: the page on which the user enters a device code (RFC 8628 section 3.3).
    static func activate(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(page: .activate, methods: [.get, .post], engine, pages) { call in
            let request = call.request
            let browser = pages.cookies(for: call).read(request)
            guard request.head.method == .post else {
                // The page shows only the code of the query, and the template escapes it.
                guard let form = try? FormParameters(parsing: Array((request.query ?? "").utf8), keepsRepeated: true) else {
                    return pages.message(\.unreadableForm, status: .badRequest, to: call)
                }
                // After a cancelled or refused sign-in, the browser is redirected here with the parameter `error`.
                if form["error"] != nil { return pages.activationEnded(to: call) }
                return pages.response(
                    try engine.activationPage(browser: browser), entered: form["user_code"], to: call)
            }
            guard let form = request.form else { return pages.message(\.unreadableForm, status: .badRequest, to: call) }
            let answer = try await engine.activate(
                form["user_code"] ?? "", formToken: form["form_token"], browser: browser, context: request.context)
            return pages.response(answer, entered: form["user_code"], to: call)
        }
    }
}

extension PageWriter {
    /// Returns the form or the redirect, with the cookies, uncached. `entered` is the code as typed, or from the URL.
    func response(_ answer: ActivationAnswer, entered: String?, to call: Endpoint.Call) -> ServerResponse {
        var response: ServerResponse
        var signIn: String?
        switch answer.outcome {
        case .redirect(let token):
            response = goOn(to: RoutePath.signIn(token))
            signIn = token
        case .refused(let refusal): response = self.refusal(refusal, to: call)
        case .form(let formToken, let isWrong):
            let texts = texts(for: call.request)
            var view = PageView(
                texts, organization: call.snapshot.organization.name, title: texts.flows.activateTitle, lead: texts.flows.activateLead)
            view.action = RoutePath.activate.pattern
            view.formToken = formToken
            view.login = entered.map { String($0.prefix(20)) }
            view.notice = isWrong ? texts.flows.wrongUserCode : nil
            view.isInvalid = isWrong
            response = html(view, template: .activate, formsTo: call.snapshot.origin)
            if isWrong { response.trace.reason = "user_code: wrong or over" }
        }
        cookies(for: call).write(answer.cookies, signIn: signIn, of: call.request, to: &response)
        return response.uncached()
    }

    /// Returns the page after a cancelled or refused sign-in for a device.
    func activationEnded(to call: Endpoint.Call) -> ServerResponse {
        let texts = texts(for: call.request)
        return html(
            PageView(
                texts, organization: call.snapshot.organization.name, title: texts.flows.deviceDeniedTitle,
                lead: texts.flows.activationEnded), template: .message
        ).uncached()
    }
}
