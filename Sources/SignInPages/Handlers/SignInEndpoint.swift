internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import ServerHTTP

extension Endpoint {
    /// Returns the endpoints of sign-ins, below `/signin`.
    static func signIn(_ engine: Engine, _ pages: PageWriter) -> [Endpoint] {
        [page(engine, pages), step(engine, pages), events(engine, pages), asset(pages)]
    }

    private static func page(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(page: .signIn, methods: [.get], engine, pages) { call in
            // A `HEAD` request, such as of a link preview, must not advance the sign-in.
            guard call.request.head.method == .get else { return ServerResponse(status: .ok).uncached() }
            let token = call.parameter(0)
            let answer = try await engine.signInPage(
                token, browser: pages.cookies(for: call).read(call.request, signIn: token), context: call.request.context)
            return pages.response(answer, token: token, to: call)
        }
    }

    private static func step(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(page: .signInStep, methods: [.post], engine, pages) { call in
            let request = call.request
            let token = call.parameter(0)
            guard let form = request.form else { return pages.message(\.unreadableForm, status: .badRequest, to: call) }
            guard let action = HostedAction(call.parameter(1), form) else {
                return pages.message(\.notFound, status: .notFound, to: call)
            }
            let answer = try await engine.signInStep(
                action, of: token, formToken: form["form_token"], browser: pages.cookies(for: call).read(request, signIn: token),
                context: request.context)
            return pages.response(answer, to: call)
        }
    }

    private static func asset(_ pages: PageWriter) -> Endpoint {
        Endpoint(.asset, methods: [.get], isCrossOrigin: false) { call in
            guard let (file, isPromised) = pages.assets.file(call.parameter(1), digest: call.parameter(0)) else {
                return pages.message(\.notFound, status: .notFound, to: call)
            }
            // An image that is opened by itself must not run scripts.
            return ServerResponse(
                status: .ok,
                headers: [
                    .contentType: file.type, .cacheControl: isPromised ? "public, max-age=31536000, immutable" : "no-cache",
                    .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
                ], body: file.bytes)
        }
    }
}

extension HostedAction {
    fileprivate init?(_ step: String, _ form: FormParameters) {
        switch step {
        case "password": self = .password(login: form["username"] ?? "", password: form["password"] ?? "")
        case "factor":
            guard let factor = form["factor"].flatMap(HostedFactor.init(rawValue:)) else { return nil }
            self = .choose(factor)
        case "passkey": self = .passkey(form["credential"] ?? "")
        case "code": self = .appCode(form["code"] ?? "")
        case "sent-code": self = .sentCode(form["code"] ?? "")
        case "choose-again": self = .chooseAgain
        case "consent":
            guard let answer = form["answer"], ["allow", "deny"].contains(answer) else { return nil }
            self = .consent(answer == "allow")
        case "device":
            guard let decision = form["decision"], decision == "allow" || decision == "deny" else { return nil }
            self = .device(isAllowed: decision == "allow")
        case "enroll": self = .enroll
        case "enroll-phone": self = .enrollPhone(authenticatorID: nil)
        case "set-up":
            guard let choice = form["choice"] else { return nil }
            if choice == HostedFactor.passkey.rawValue {
                self = .enrollPasskey
            } else if let channel = CodeChannel(rawValue: choice) {
                self = .enrollCode(channel)
            } else {
                self = .enrollPhone(authenticatorID: choice)
            }
        case "recovery-code": self = .savedCode(form["code"] ?? "")
        case "recovery-codes": self = .showCodes
        case "codes-saved": self = .codesSaved
        case "decline":
            guard let offer = form["offer"].flatMap(SetupOffer.init(rawValue:)) else { return nil }
            self = .decline(offer)
        case "new-passkey": self = .newPasskey(form["credential"] ?? "")
        case "number": self = .number(form["number"] ?? "")
        case "choose-enrollment": self = .chooseEnrollment
        case "confirm": self = .confirmEnrollment(form["code"] ?? "")
        case "new-password": self = .newPassword(form["password"] ?? "", repeated: form["repeated"] ?? "")
        case "cancel": self = .cancel
        case "restart": self = .restart
        default: return nil
        }
    }
}

extension Endpoint {
    /// Creates the endpoint of the URL in a QR code, for a user who opens it in a browser. Its page names the right app. The ticket is in
    /// the fragment, which browsers do not send, so that it is neither logged nor consumed.
    static func enrollHere(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(page: RoutePath(PhoneTicket.path("{id}")), methods: [.get], engine, pages, admits: { _ in true }) { call in
            let authenticatorID = call.parameter(0)
            guard authenticatorID.utf8.count <= 100,
                let authenticator = call.snapshot.authenticators.first(where: { $0.id == authenticatorID && $0.isActive })
            else { return pages.message(\.notFound, status: .notFound, to: call) }
            let texts = pages.texts(for: call.request)
            let view = PageView(
                texts, organization: call.snapshot.organization.name, title: texts.phone.hereTitle, lead: texts.phone.here,
                application: authenticator.name)
            return pages.html(view, template: .message).uncached()
        }
    }
}
