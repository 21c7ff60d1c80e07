internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import OAuthWire
package import ServerHTTP

/// What lies below `/signin`.
package enum SignInRoute: Hashable, Sendable {
    /// A page of getting back into an account.
    case recovery(RecoveryRoute)
    /// A file that pages load.
    case asset(String, digest: String)
    /// The page of a sign-in.
    case page(token: String)
    /// Whether the page goes on.
    case events(token: String)
    /// A step that a form of it takes.
    case step(token: String, String)

    /// Finds the route of a path; nil for a path that is none of these.
    package init?(_ path: [Substring]) {
        guard path.first == "signin", path.allSatisfy({ (1...100).contains($0.utf8.count) }) else { return nil }
        if let recovery = RecoveryRoute(path) {
            self = .recovery(recovery)
            return
        }
        switch path.count {
        case 2: self = .page(token: String(path[1]))
        case 4 where path[1] == "assets": self = .asset(String(path[3]), digest: String(path[2]))
        case 3 where path[2] == "events": self = .events(token: String(path[1]))
        case 3: self = .step(token: String(path[1]), String(path[2]))
        default: return nil
        }
    }
}

extension Endpoint {
    /// The names of the routes below `/signin`, for metrics.
    package static let signInNames = ["signin", "signin/step", "signin/events", "signin/assets", "signin/recover"]

    /// The endpoint of a route below `/signin`.
    package static func signIn(
        _ route: SignInRoute, _ engine: Engine, _ pages: PageWriter
    ) -> Endpoint {
        switch route {
        case .recovery(let route): recovery(route, engine, pages)
        case .asset(let name, let digest): asset(name, digest, pages)
        case .events(let token): events(of: token, engine, pages)
        case .page(let token): page(token, engine, pages)
        case .step(let token, let step): self.step(step, of: token, engine, pages)
        }
    }

    private static func page(_ token: String, _ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "signin", methods: [.get], isCrossOrigin: false) { call in
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            // Who looks without taking, as a preview does, must not use up what only a browser can take.
            guard call.request.head.method == .get else { return ServerResponse(status: .ok).uncached() }
            let answer = try await engine.signInPage(
                token, browser: pages.cookies(for: call).read(call.request, signIn: token), context: call.request.context)
            call.courier.deliver(answer.logouts)
            return pages.response(answer, token: token, to: call)
        }
    }

    private static func step(
        _ step: String, of token: String, _ engine: Engine, _ pages: PageWriter
    ) -> Endpoint {
        Endpoint(name: "signin/step", methods: [.post], isCrossOrigin: false) { call in
            let request = call.request
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            guard ProtocolForm.isForm(request.head.headerFields[.contentType]), !request.isTooLarge,
                let form = try? FormParameters(parsing: request.body)
            else { return pages.message(\.unreadableForm, status: .badRequest, to: call) }
            guard let action = HostedAction(step, form) else { return pages.message(\.notFound, status: .notFound, to: call) }
            let answer = try await engine.signInStep(
                action, of: token, formToken: form["form_token"], browser: pages.cookies(for: call).read(request, signIn: token),
                context: request.context)
            // Stored already: what is not sent, the device fetches.
            call.courier.deliver(answer.pushes)
            call.courier.deliver(answer.messages, origin: call.snapshot.origin)
            call.courier.deliver(answer.logouts)
            return pages.response(answer, to: call)
        }
    }

    private static func asset(_ name: String, _ digest: String, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "signin/assets", methods: [.get], isCrossOrigin: false) { call in
            guard let (file, isPromised) = pages.assets.file(name, digest: digest) else {
                return pages.message(\.notFound, status: .notFound, to: call)
            }
            // A picture that is opened by itself shows, and does nothing else.
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
    /// What a form asks for; nil if there is no such step.
    fileprivate init?(_ step: String, _ form: FormParameters) {
        switch step {
        case "password": self = .password(login: form["username"] ?? "", password: form["password"] ?? "")
        case "factor":
            guard let factor = form["factor"].flatMap(HostedFactor.init(rawValue:)) else { return nil }
            self = .choose(factor)
        case "code": self = .code(form["code"] ?? "")
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
            if let channel = CodeChannel(rawValue: choice) {
                self = .enrollCode(channel)
            } else {
                self = .enrollPhone(authenticatorID: choice)
            }
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
    /// What who opens the address of a QR code in a browser sees: which app it is for. The ticket is in the fragment, which does not come
    /// here; so nothing that is asked for is said, logged or used up.
    package static func enrollHere(_ authenticatorID: String, _ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "enroll", methods: [.get], isCrossOrigin: false) { call in
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            guard authenticatorID.utf8.count <= 100,
                let authenticator = call.snapshot.authenticators.first(where: { $0.id == authenticatorID && $0.isActive })
            else { return pages.message(\.notFound, status: .notFound, to: call) }
            let texts = pages.texts(for: call.request)
            let view = PageView(
                texts, organization: call.snapshot.organization.name, title: texts.phone.hereTitle, lead: texts.phone.here,
                application: authenticator.name)
            return pages.html(view, template: "message").uncached()
        }
    }
}
