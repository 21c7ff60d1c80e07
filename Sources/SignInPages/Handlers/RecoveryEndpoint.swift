internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import OAuthWire
internal import ServerHTTP

/// The pages of getting back into an account, and of the links in mails, below `/signin`.
package enum RecoveryRoute: Hashable, Sendable {
    /// The address in a mail: its secret goes into a cookie, and the browser to ``taking``.
    case link(token: String)
    /// The confirmation page of the link that the handle names.
    case taking(handle: String)
    /// The address in a mail that came with a code, and what asks whether it is the person who signs in.
    case mailLink(token: String)
    case confirming(handle: String)
    /// What asks for the name, from a sign-in.
    case form(signIn: String, isUnlock: Bool)
    /// What says that a mail was sent.
    case sent(signIn: String, isUnlock: Bool)
    /// Where a recovery stands.
    case page(token: String)
    /// A step that a form of it takes.
    case step(token: String, String)

    /// Finds the route of a path below `/signin` whose parts are not empty and not long; nil for every other page.
    init?(_ path: [Substring]) {
        switch path.count {
        case 4 where path[1] == "link" && path[3] == "recover": self = .taking(handle: String(path[2]))
        case 4 where path[1] == "link" && path[3] == "confirm": self = .confirming(handle: String(path[2]))
        case 3 where path[1] == "mail": self = .mailLink(token: String(path[2]))
        case 3 where ["reset-password", "unlock", "set-up"].contains(path[1]): self = .link(token: String(path[2]))
        case 3 where path[1] == "recover": self = .page(token: String(path[2]))
        case 4 where path[1] == "recover": self = .step(token: String(path[2]), String(path[3]))
        case 3 where path[2] == "forgot" || path[2] == "unlock":
            self = .form(signIn: String(path[1]), isUnlock: path[2] == "unlock")
        case 3 where path[2] == "forgot-mailed" || path[2] == "unlock-mailed":
            self = .sent(signIn: String(path[1]), isUnlock: path[2] == "unlock-mailed")
        default: return nil
        }
    }

    /// The path, below `/signin`, of the pages of the link that a handle names.
    static func pages(ofLink handle: String) -> String { "link/\(handle)" }

    /// The token of the page's sign-in or recovery; `nil` for a link.
    var token: String? {
        switch self {
        case .form(let token, _), .sent(let token, _), .page(let token), .step(let token, _): token
        case .link, .mailLink, .taking, .confirming: nil
        }
    }

    /// The address of a page.
    static func path(of place: RecoveryPlace) -> String {
        switch place {
        case .form(let token, let isUnlock): "/signin/\(token)/\(isUnlock ? "unlock" : "forgot")"
        case .sent(let token, let isUnlock): "/signin/\(token)/\(isUnlock ? "unlock-mailed" : "forgot-mailed")"
        case .page(let token): "/signin/recover/\(token)"
        }
    }
}

extension Endpoint {
    /// The endpoint of a page of a recovery.
    static func recovery(
        _ route: RecoveryRoute, _ engine: Engine, _ pages: PageWriter
    ) -> Endpoint {
        let methods: [HTTPRequest.Method] =
            switch route {
            case .link, .mailLink, .sent, .page: [.get]
            case .taking, .confirming, .form: [.get, .post]
            case .step: [.post]
            }
        return Endpoint(name: "signin/recover", methods: methods, isCrossOrigin: false) { call in
            let request = call.request
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            guard request.head.method == .post else {
                guard request.head.method == .get else { return ServerResponse(status: .ok).uncached() }
                return try await page(route, engine, pages, call)
            }
            guard ProtocolForm.isForm(request.head.headerFields[.contentType]), !request.isTooLarge,
                let form = try? FormParameters(parsing: request.body)
            else { return pages.message(\.unreadableForm, status: .badRequest, to: call) }
            guard let answer = try await answer(route, form, engine, pages, call) else {
                return pages.message(\.notFound, status: .notFound, to: call)
            }
            call.courier.deliver(answer.messages, origin: call.snapshot.origin)
            var response = pages.response(answer, to: call)
            switch route {
            // It was taken: the cookie that held it is of no use.
            case .taking(let handle), .confirming(let handle): pages.cookies(for: call).endLink(handle, in: &response)
            default: break
            }
            return response
        }
    }

    private static func page(
        _ route: RecoveryRoute, _ engine: Engine, _ pages: PageWriter, _ call: Call
    ) async throws -> ServerResponse {
        let context = call.request.context
        let cookies = pages.cookies(for: call)
        let browser = cookies.read(call.request, signIn: route.token)
        switch route {
        case .link(let token), .mailLink(let token):
            // Nothing is looked up: who only opens links, as programs that look at mails do, neither uses it up nor learns of it.
            let step = route == .mailLink(token: token) ? "confirm" : "recover"
            let handle = BrowserCookies.handle(of: token)
            var response = pages.goOn(to: "/signin/\(RecoveryRoute.pages(ofLink: handle))/\(step)")
            cookies.writeLink(token, of: call.request, to: &response)
            return response.uncached()
        case .taking(let handle):
            let token = cookies.link(handle, of: call.request)
            let answer = try await engine.recoveryLinkPage(token, browser: browser, context: context)
            return pages.response(answer, token: RecoveryRoute.pages(ofLink: handle), to: call)
        case .confirming(let handle):
            let token = cookies.link(handle, of: call.request)
            let answer = try await engine.mailLinkPage(token, browser: browser, context: context)
            return pages.response(answer, token: RecoveryRoute.pages(ofLink: handle), to: call)
        case .form(let token, let isUnlock):
            let answer = try await engine.recoveryForm(isUnlock: isUnlock, of: token, browser: browser, context: context)
            return pages.response(answer, token: token, to: call)
        case .sent(let token, let isUnlock):
            let answer = try await engine.recoverySent(isUnlock: isUnlock, of: token, browser: browser, context: context)
            return pages.response(answer, token: token, to: call)
        case .page(let token), .step(let token, _):
            let answer = try await engine.recoveryPage(token, browser: browser, context: context)
            return pages.response(answer, token: "recover/\(token)", to: call)
        }
    }

    /// What a form came to; nil for a step that there is not.
    private static func answer(
        _ route: RecoveryRoute, _ form: FormParameters, _ engine: Engine, _ pages: PageWriter, _ call: Call
    ) async throws -> HostedAnswer? {
        let context = call.request.context
        let cookies = pages.cookies(for: call)
        let browser = cookies.read(call.request, signIn: route.token)
        switch route {
        case .taking(let handle):
            return try await engine.openRecoveryLink(
                cookies.link(handle, of: call.request), formToken: form["form_token"], browser: browser, context: context)
        case .confirming(let handle):
            guard let text = form["answer"], ["yes", "no"].contains(text) else { return nil }
            return try await engine.answerMailLink(
                cookies.link(handle, of: call.request), isApproved: text == "yes", formToken: form["form_token"], browser: browser,
                context: context)
        case .form(let token, let isUnlock):
            return try await engine.beginRecovery(
                isUnlock: isUnlock, username: form["username"] ?? "", channel: form["channel"] ?? "", of: token,
                formToken: form["form_token"], browser: browser, context: context)
        case .step(let token, let step):
            guard let action = RecoveryAction(step, form) else { return nil }
            return try await engine.recoveryStep(
                action, of: token, formToken: form["form_token"], browser: browser, context: context)
        case .link, .mailLink, .sent, .page: return nil
        }
    }
}

extension RecoveryAction {
    /// What a form asks for; nil if there is no such step.
    fileprivate init?(_ step: String, _ form: FormParameters) {
        switch step {
        case "code": self = .code(form["code"] ?? "")
        case "resend": self = .resend
        case "answer": self = .answer(form["answer"] ?? "")
        case "new-password": self = .password(form["password"] ?? "", repeated: form["repeated"] ?? "")
        default: return nil
        }
    }
}
