internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import ServerHTTP

/// The endpoints of recovery and of mailed links, below `/signin`.
extension Endpoint {
    private typealias Page = @Sendable (Call, BrowserSecrets) async throws -> HostedAnswer
    /// Handles a form; `nil` for an unknown step.
    private typealias Answer = @Sendable (Call, BrowserSecrets, FormParameters) async throws -> HostedAnswer?

    static func recovery(_ engine: Engine, _ pages: PageWriter) -> [Endpoint] {
        let mailed = [RoutePath.resetPassword, .unlock, .setUp].map { link($0, to: .linkRecovery, engine, pages) }
        let forms = [(RoutePath.forgot, RoutePath.forgotMailed, false), (.unlockForm, .unlockMailed, true)].flatMap {
            [start($0, isUnlock: $2, engine, pages), sent($1, isUnlock: $2, engine, pages)]
        }
        return mailed + forms + withoutSignIn(engine, pages) + [
            link(.mailLink, to: .linkConfirmation, engine, pages), linkRecovery(engine, pages), linkConfirmation(engine, pages),
            recovery(.recovery, engine, pages, prefix: "recover/") { call, browser in
                try await engine.recoveryPage(call.parameter(0), browser: browser, context: call.request.context)
            },
            recovery(.recoveryStep, engine, pages, page: nil) { call, browser, form in
                guard let action = RecoveryAction(call.parameter(1), form) else { return nil }
                return try await engine.recoveryStep(
                    action, of: call.parameter(0), formToken: form["form_token"], browser: browser, context: call.request.context)
            },
        ]
    }

    /// Returns the endpoints of a new password without a sign-in, and of the address that password managers open for it (W3C, A Well-Known
    /// URL for Changing Passwords).
    private static func withoutSignIn(_ engine: Engine, _ pages: PageWriter) -> [Endpoint] {
        func page(_ path: RoutePath, _ methods: [HTTPRequest.Method], _ page: @escaping Page, answer: Answer? = nil) -> Endpoint {
            Endpoint(page: path, methods: methods, engine, pages) { call in
                guard call.snapshot.organization.classic?.allowsRecovery(isUnlock: false) == true else {
                    return pages.message(\.notFound, status: .notFound, to: call)
                }
                let browser = pages.cookies(for: call).read(call.request)
                guard call.request.head.method == .post else { return pages.response(try await page(call, browser), to: call) }
                guard let form = call.request.form, let answer = try await answer?(call, browser, form) else {
                    return pages.message(\.unreadableForm, status: .badRequest, to: call)
                }
                return pages.response(answer, to: call)
            }
        }
        return [
            Endpoint(.changePassword, methods: [.get], isCrossOrigin: false) { call in
                guard call.snapshot.organization.classic?.allowsRecovery(isUnlock: false) == true else {
                    return ServerResponse.pathNotFound(call.request).counted(call, by: engine)
                }
                return pages.goOn(to: RoutePath.newPassword.pattern).uncached().counted(call, by: engine)
            },
            page(.newPassword, [.get, .post]) { call, browser in
                try engine.newPasswordPage(call.snapshot, browser: browser)
            } answer: { call, browser, form in
                try await engine.beginNewPassword(
                    username: form["username"] ?? "", channel: form["channel"] ?? "", formToken: form["form_token"], browser: browser,
                    context: call.request.context)
            },
            page(.newPasswordMailed, [.get]) { call, _ in engine.newPasswordMailedPage(call.snapshot) },
        ]
    }

    /// Returns the endpoint of the form for the user name, which is opened from a sign-in.
    private static func start(_ path: RoutePath, isUnlock: Bool, _ engine: Engine, _ pages: PageWriter) -> Endpoint {
        recovery(path, engine, pages) { call, browser in
            try await engine.recoveryForm(
                isUnlock: isUnlock, of: call.parameter(0), browser: browser, context: call.request.context)
        } answer: { call, browser, form in
            try await engine.beginRecovery(
                isUnlock: isUnlock, username: form["username"] ?? "", channel: form["channel"] ?? "", of: call.parameter(0),
                formToken: form["form_token"], browser: browser, context: call.request.context)
        }
    }

    /// Returns the endpoint of the page that announces a mail.
    private static func sent(_ path: RoutePath, isUnlock: Bool, _ engine: Engine, _ pages: PageWriter) -> Endpoint {
        recovery(path, engine, pages) { call, browser in
            try await engine.recoverySent(
                isUnlock: isUnlock, of: call.parameter(0), browser: browser, context: call.request.context)
        }
    }

    /// Returns the endpoint of the confirmation page for a mailed link to a recovery or an activation.
    private static func linkRecovery(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        recovery(.linkRecovery, engine, pages, prefix: linkPrefix) { call, browser in
            try await engine.recoveryLinkPage(pages.link(of: call), browser: browser, context: call.request.context)
        } answer: { call, browser, form in
            try await engine.openRecoveryLink(
                pages.link(of: call), formToken: form["form_token"], browser: browser, context: call.request.context)
        }
    }

    /// Returns the endpoint of the confirmation page for a mailed link that was sent with a code.
    private static func linkConfirmation(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        recovery(.linkConfirmation, engine, pages, prefix: linkPrefix) { call, browser in
            try await engine.mailLinkPage(pages.link(of: call), browser: browser, context: call.request.context)
        } answer: { call, browser, form in
            guard let text = form["answer"], ["yes", "no"].contains(text) else { return nil }
            return try await engine.answerMailLink(
                pages.link(of: call), isApproved: text == "yes", formToken: form["form_token"], browser: browser,
                context: call.request.context)
        }
    }

    private static let linkPrefix = "link/"

    /// Creates an endpoint with a page, a form, or both. The forms of the page submit to URLs that start with `/signin/`, `prefix` and the
    /// first parameter of the path.
    private static func recovery(
        _ path: RoutePath, _ engine: Engine, _ pages: PageWriter, prefix: String = "", page: Page?, answer: Answer? = nil
    ) -> Endpoint {
        let methods: [HTTPRequest.Method] = (page == nil ? [] : [.get]) + (answer == nil ? [] : [.post])
        return Endpoint(page: path, methods: methods, engine, pages) { call in
            let token = call.parameter(0)
            let isLink = prefix == linkPrefix
            let browser = pages.cookies(for: call).read(call.request, signIn: isLink ? nil : token)
            guard call.request.head.method == .post else {
                guard let page, call.request.head.method == .get else { return ServerResponse(status: .ok).uncached() }
                return pages.response(try await page(call, browser), token: prefix + token, to: call)
            }
            guard let form = call.request.form else { return pages.message(\.unreadableForm, status: .badRequest, to: call) }
            guard let answer = try await answer?(call, browser, form) else {
                return pages.message(\.notFound, status: .notFound, to: call)
            }
            var response = pages.response(answer, to: call)
            // The link was answered, so its cookie is removed.
            if isLink { pages.cookies(for: call).endLink(token, in: &response) }
            return response
        }
    }

    /// Creates the endpoint of the URL in a mail. It does not look up the link, because mail scanners also open links. They must neither
    /// consume the link nor learn whether it is valid.
    private static func link(_ path: RoutePath, to page: RoutePath, _ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(page: path, methods: [.get], engine, pages) { call in
            guard call.request.head.method == .get else { return ServerResponse(status: .ok).uncached() }
            let token = call.parameter(0)
            var response = pages.goOn(to: page(BrowserCookies.handle(of: token)))
            pages.cookies(for: call).writeLink(token, of: call.request, to: &response)
            return response.uncached()
        }
    }
}

extension PageWriter {
    /// Returns the secret of the mailed link that the request's path names; `nil` without the link's cookie.
    fileprivate func link(of call: Endpoint.Call) -> String? { cookies(for: call).link(call.parameter(0), of: call.request) }
}

extension RecoveryAction {
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
