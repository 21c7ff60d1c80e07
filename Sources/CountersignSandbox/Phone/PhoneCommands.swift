internal import DeviceAuthenticator
internal import Foundation
internal import JOSE

/// What can be done with phones from outside: by the control API, and by the phones' page.
struct PhoneCommands: Sendable {
    /// A command that can't be read.
    struct Unreadable: Error { let message: String }

    let phones: VirtualPhones

    /// Does what a body says with a phone.
    ///
    /// - Parameters:
    ///   - action: `approve`, `deny`, `pull`, `settings`, `number`, `token`, `restart` or `remove`.
    ///   - phone: The phone.
    ///   - body: The action's members, as the module's DocC page lists them.
    /// - Returns: The phone after it; nil if there is no such action.
    /// - Throws: ``Unreadable``, ``PhoneError``, `DeviceAuthenticatorError`, or what a sign-in throws.
    func perform(_ action: String, on phone: VirtualPhone, _ body: JSONValue) async throws -> JSONValue? {
        switch action {
        case "approve": try await approve(on: phone, body)
        case "deny": try await deny(on: phone, body)
        case "pull": try await phone.pending()
        case "settings": try await set(on: phone, body)
        case "number":
            guard let number = body["number"]?.stringValue else { throw Unreadable(message: "Say which number, as a string.") }
            phone.pickNumber(number)
        case "token": try await phone.replaceToken(telling: try flag(body, "tell") ?? true)
        case "restart": try phone.restart()
        case "remove": try await phone.remove()
        default: return nil
        }
        return phone.json
    }

    /// Sets a phone up.
    func add(_ body: JSONValue) async throws -> VirtualPhone {
        guard let login = body["login"]?.stringValue, !login.isEmpty else {
            throw Unreadable(message: "Say whose phone: login is missing.")
        }
        if let uri = body["uri"]?.stringValue {
            return try await phones.phone(
                for: login, scanning: uri, userVerification: try flag(body, "user_verification") ?? false, session: nil)
        }
        return try await phones.phone(for: login, userVerification: try flag(body, "user_verification") ?? false, session: nil)
    }

    // MARK: - Answers

    private func approve(on phone: VirtualPhone, _ body: JSONValue) async throws {
        let number = body["number"]?.stringValue
        if let id = body["id"]?.stringValue {
            try await phone.approve(id, selectedNumber: number)
        } else {
            try await phone.approveNext(number: number, within: try limit(body))
        }
    }

    private func deny(on phone: VirtualPhone, _ body: JSONValue) async throws {
        let isSuspicious = try flag(body, "suspicious") ?? false
        if let id = body["id"]?.stringValue {
            try await phone.deny(id, isSuspicious: isSuspicious)
        } else {
            try await phone.denyNext(isSuspicious: isSuspicious, within: try limit(body))
        }
    }

    private func limit(_ body: JSONValue) throws -> Duration {
        .seconds(try seconds(body, "within", upTo: 300) ?? 30)
    }

    // MARK: - Settings

    private func set(on phone: VirtualPhone, _ body: JSONValue) async throws {
        // Read as a whole before anything is changed.
        let (autoApprove, twice) = (try flag(body, "auto_approve"), try flag(body, "delivers_twice"))
        let (wrong, offline) = (try flag(body, "picks_wrong_number"), try flag(body, "offline"))
        let (userVerification, ciba) = (try flag(body, "user_verification"), try flag(body, "ciba"))
        let delay = try seconds(body, "delay", upTo: 86_400)
        let verification = try body["verification"].map { value in
            guard let verification = value.stringValue.flatMap(VirtualPhone.Verification.init(rawValue:)) else {
                throw Unreadable(message: "verification is one of succeeds, fails, cancels.")
            }
            return verification
        }
        if let twice { phone.deliversTwice = twice }
        if let wrong { phone.picksWrongNumber = wrong }
        if let delay { phone.delay = delay }
        if let verification { phone.verification = verification }
        if let offline { await phone.setOffline(offline) }
        if let ciba { try await phone.setCIBA(ciba) }
        if let userVerification { try await phone.setUserVerification(userVerification) }
        if let autoApprove { phone.autoApprove = autoApprove }
    }

    private func flag(_ body: JSONValue, _ name: String) throws -> Bool? {
        guard let value = body[name] else { return nil }
        guard let flag = value.boolValue else { throw Unreadable(message: "\(name) is true or false.") }
        return flag
    }

    private func seconds(_ body: JSONValue, _ name: String, upTo maximum: Double) throws -> Double? {
        guard let value = body[name] else { return nil }
        guard let seconds = value.doubleValue, 0...maximum ~= seconds else {
            throw Unreadable(message: "\(name) is a number of seconds up to \(Int(maximum)).")
        }
        return seconds
    }
}
