internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import HTTPTypes
internal import JOSE

/// The phone commands of the control API and the phones' page.
struct PhoneCommands: Sendable {
    let phones: VirtualPhones

    /// Performs an action on a phone: `approve`, `deny`, `pull`, `settings`, `number`, `token`, `restart` or `remove`. The module's DocC
    /// page lists the members of `body`. Returns the phone's state after the action; `nil` for an unknown action.
    func perform(_ action: String, on phone: VirtualPhone, _ body: ControlBody) async throws -> JSONValue? {
        try await Self.naming(phone.login) { try await apply(action, to: phone, body) }
    }

    private func apply(_ action: String, to phone: VirtualPhone, _ body: ControlBody) async throws -> JSONValue? {
        switch action {
        case "approve": try await approve(on: phone, body)
        case "deny": try await deny(on: phone, body)
        case "pull":
            try body.allow()
            try await phone.pending()
        case "settings": try await set(on: phone, body)
        case "number":
            try body.allow(["number"])
            phone.pickNumber(try body.required("number", example: "42"))
        case "token":
            try body.allow(["tell"])
            try await phone.replaceToken(telling: try body.flag("tell") ?? true)
        case "restart":
            try body.allow()
            try phone.restart()
        case "remove":
            try body.allow()
            try await phone.remove()
        default: return nil
        }
        return phone.json
    }

    func add(_ body: ControlBody) async throws -> VirtualPhone {
        try body.allow(["login", "uri", "user_verification"])
        let login = try body.required("login", example: "jane.doe@example.com")
        let userVerification = try body.flag("user_verification") ?? false
        let uri = try body.text("uri")
        if let uri, (try? EnrollmentLink(uri)) == nil {
            throw ControlBody.Invalid(message: "uri is not the address in the QR code of a sign-in page.")
        }
        return try await Self.naming(login) {
            guard let uri else { return try await phones.phone(for: login, userVerification: userVerification, session: nil) }
            return try await phones.phone(for: login, scanning: uri, userVerification: userVerification, session: nil)
        }
    }

    /// Converts errors of the sign-in that enrolls or changes a phone to a ``PhoneError``, because the phone failed and not the sandbox.
    private static func naming<Result>(_ login: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error
            where !(error is ControlBody.Invalid || error is PhoneError || error is DeviceAuthenticatorError || error is CancellationError)
        {
            throw PhoneError(.signInIncomplete, "The phone of \(login) could not sign in: \(technicalText(of: error))")
        }
    }

    private func approve(on phone: VirtualPhone, _ body: ControlBody) async throws {
        try body.allow(["id", "number", "within"])
        let (id, number, limit) = (try body.text("id"), try body.text("number"), try limit(body))
        if let id {
            try await phone.approve(id, selectedNumber: number)
        } else {
            try await phone.approveNext(number: number, within: limit)
        }
    }

    private func deny(on phone: VirtualPhone, _ body: ControlBody) async throws {
        try body.allow(["id", "suspicious", "within"])
        let (id, isSuspicious, limit) = (try body.text("id"), try body.flag("suspicious") ?? false, try limit(body))
        if let id {
            try await phone.deny(id, isSuspicious: isSuspicious)
        } else {
            try await phone.denyNext(isSuspicious: isSuspicious, within: limit)
        }
    }

    private func limit(_ body: ControlBody) throws -> Duration {
        .seconds(try body.number("within", in: 0...300) ?? 30)
    }

    private func set(on phone: VirtualPhone, _ body: ControlBody) async throws {
        try body.allow([
            "auto_approve", "offline", "delay", "delivers_twice", "picks_wrong_number", "user_verification", "ciba", "verification",
        ])
        // Read every member before anything is changed.
        let (autoApprove, twice) = (try body.flag("auto_approve"), try body.flag("delivers_twice"))
        let (wrong, offline) = (try body.flag("picks_wrong_number"), try body.flag("offline"))
        let (userVerification, ciba) = (try body.flag("user_verification"), try body.flag("ciba"))
        let delay = try body.number("delay", in: 0...86_400)
        let verification = try body.choice("verification", VirtualPhone.Verification.self)
        if let twice { phone.deliversTwice = twice }
        if let wrong { phone.picksWrongNumber = wrong }
        if let delay { phone.delay = delay }
        if let verification { phone.verification = verification }
        if let offline { await phone.setOffline(offline) }
        if let ciba { try await phone.setCIBA(ciba) }
        if let userVerification { try await phone.setUserVerification(userVerification) }
        if let autoApprove { phone.autoApprove = autoApprove }
    }
}

/// The control API calls below `/sandbox/phones`.
extension PhoneCommands {
    /// Responds to a call; `nil` if the call or the phone is unknown. The path is relative to `/sandbox/` and percent-encoded. `body` is
    /// called only for calls with a body.
    func answer(_ method: HTTPRequest.Method, _ path: String, body: () throws -> ControlBody) async throws -> JSONValue? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding ?? String($0) }
        guard parts.first == "phones" else { return nil }
        switch (method, parts.count) {
        case (.get, 1): return ["phones": .array(phones.all.map(\.json))]
        case (.post, 1): return try await add(try body()).json
        default: break
        }
        guard parts.count > 1, let phone = phones.known(parts[1]) else { return nil }
        switch (method, parts.count) {
        case (.get, 2): return phone.json
        case (.delete, 2):
            try await phone.remove()
            return ["phones": .array(phones.all.map(\.json))]
        case (.post, 3): return try await perform(parts[2], on: phone, try body())
        default: return nil
        }
    }

    /// Returns the response to a failure of the phone; `nil` for other errors.
    static func answer(to error: any Error) -> JSONValue? {
        switch error {
        case let error as PhoneError: ["error": .string(error.message), "code": .string(error.code.rawValue)]
        case let error as DeviceAuthenticatorError:
            ["error": .string(VirtualPhone.text(of: error)), "code": .string(error.reason.rawValue)]
        default: nil
        }
    }
}
