internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import OAuthWire
package import ServerHTTP

extension Endpoint {
    /// `/activate`: where people enter the code that a device shows (RFC 8628 section 3.3).
    package static func activate(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "activate", methods: [.get, .post], isCrossOrigin: false) { call in
            let request = call.request
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            let browser = pages.cookies(for: call).read(request)
            guard request.head.method == .post else {
                // Nothing of a query is shown but a code, which the template escapes.
                guard let form = try? FormParameters(parsing: Array((request.query ?? "").utf8), keepsRepeated: true) else {
                    return pages.message(\.unreadableForm, status: .badRequest, to: call)
                }
                // Back from a sign-in that was cancelled or refused.
                if form["error"] != nil { return pages.activationEnded(to: call) }
                return pages.response(
                    try engine.activationPage(browser: browser), entered: form["user_code"], to: call)
            }
            guard ProtocolForm.isForm(request.head.headerFields[.contentType]), !request.isTooLarge,
                let form = try? FormParameters(parsing: request.body)
            else { return pages.message(\.unreadableForm, status: .badRequest, to: call) }
            let answer = try await engine.activate(
                form["user_code"] ?? "", formToken: form["form_token"], browser: browser, context: request.context)
            return pages.response(answer, entered: form["user_code"], to: call)
        }
    }
}

extension PageWriter {
    /// The answer to a browser in which the code of a device is entered.
    ///
    /// - Parameters:
    ///   - answer: What the engine says.
    ///   - entered: The code as it was entered, or as the address has it.
    ///   - call: The request.
    /// - Returns: The form, or a redirect, with the cookies; no cache keeps it.
    func response(_ answer: ActivationAnswer, entered: String?, to call: Endpoint.Call) -> ServerResponse {
        var response: ServerResponse
        var signIn: String?
        switch answer.outcome {
        case .goOn(let token):
            response = goOn(to: "/signin/\(token)")
            signIn = token
        case .refused(let refusal): response = self.refusal(refusal, to: call)
        case .form(let formToken, let isWrong):
            let texts = texts(for: call.request)
            var view = PageView(
                texts, organization: call.snapshot.organization.name, title: texts.flows.activateTitle, lead: texts.flows.activateLead)
            view.action = "/activate"
            view.formToken = formToken
            view.login = entered.map { String($0.prefix(20)) }
            view.notice = isWrong ? texts.flows.wrongUserCode : nil
            view.isInvalid = isWrong
            response = html(view, template: "activate", formsTo: call.snapshot.origin)
            if isWrong { response.trace.reason = "user_code: wrong or over" }
        }
        cookies(for: call).write(answer.cookies, signIn: signIn, of: call.request, to: &response)
        return response.uncached()
    }

    /// The page that a person comes back to who did not finish signing in for a device.
    func activationEnded(to call: Endpoint.Call) -> ServerResponse {
        let texts = texts(for: call.request)
        return html(
            PageView(
                texts, organization: call.snapshot.organization.name, title: texts.flows.deviceDeniedTitle,
                lead: texts.flows.activationEnded), template: "message"
        ).uncached()
    }
}
