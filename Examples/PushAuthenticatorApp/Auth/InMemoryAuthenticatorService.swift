internal import Foundation
internal import Wording

/// A device without a server, for previews. It accepts every password and every answer.
///
/// `@unchecked Sendable` is safe because the mutable state is read and written only under the lock.
final class InMemoryAuthenticatorService: AuthenticatorServicing, @unchecked Sendable {
    private let lock = NSLock()
    private var held: (accounts: [Account], requests: [ApprovalRequest])
    private let number: String?

    /// Creates a device.
    ///
    /// - Parameters:
    ///   - accounts: The accounts on the device.
    ///   - requests: The pending requests.
    ///   - number: The number to select on another phone for each change that needs a sign-in; `nil` for none.
    init(_ accounts: [Account] = [], requests: [ApprovalRequest] = [], number: String? = nil) {
        held = (accounts, requests)
        self.number = number
    }

    private func change(_ id: Account.ID, verifiesUser: Bool? = nil, answersCIBA: Bool? = nil) throws {
        try lock.withLock {
            guard let place = held.accounts.firstIndex(where: { $0.id == id }) else { throw SignInTrouble.noSuchAccount }
            let old = held.accounts[place]
            held.accounts[place] = Account(
                id: id, name: old.name, organization: old.organization, verifiesUser: verifiesUser ?? old.verifiesUser,
                answersCIBA: answersCIBA ?? old.answersCIBA, trouble: old.trouble)
        }
    }

    private func signIn(_ waiting: WaitingForApproval) async throws {
        guard let number else { return }
        await waiting(number)
        // The sign-in waits until it is cancelled.
        let (never, entrance) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        entrance.finish()
        throw CancellationError()
    }

    private func add(_ name: String, verifiesUser: Bool) -> Account {
        let account = Account.sample(name, verifiesUser: verifiesUser)
        lock.withLock { held.accounts = held.accounts.filter { $0.id != account.id } + [account] }
        return account
    }

    // MARK: - AuthenticatorServicing

    func accounts() throws -> [Account] { lock.withLock { held.accounts } }

    func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account {
        try await signIn(waiting)
        return add(form.username, verifiesUser: userVerification)
    }

    func enroll(link: String, userVerification: Bool) async throws -> Account { add("by.code@example.com", verifiesUser: userVerification) }

    func setUserVerification(_ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {
        try await signIn(waiting)
        try change(id, verifiesUser: isOn)
    }

    func setCIBA(_ isOn: Bool, of id: Account.ID) async throws { try change(id, answersCIBA: isOn) }

    func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {
        try await signIn(waiting)
        try await removeFromDevice(id)
    }

    func removeFromDevice(_ id: Account.ID) async throws {
        lock.withLock {
            held.accounts.removeAll { $0.id == id }
            held.requests.removeAll { $0.accountID == id }
        }
    }

    func updatePushToken(_ token: Data) async throws {}

    func retrieve() async -> Retrieved { Retrieved(lock.withLock { held.requests }) }

    func read(push: PushPayload) async throws -> ApprovalRequest? { nil }

    func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String? {
        try lock.withLock {
            guard held.requests.contains(where: { $0.id == id }) else { throw SignInTrouble.noSuchRequest }
            held.requests.removeAll { $0.id == id }
            return nil
        }
    }

    func settled() async {}
}

extension Account {
    /// A sample account.
    static func sample(
        _ name: String = "jane.doe@example.com", verifiesUser: Bool = false, answersCIBA: Bool = false, trouble: String? = nil
    ) -> Account {
        Account(
            id: "sample \(name)", name: name, organization: URL(string: "https://id.example.com") ?? URL(filePath: "/"),
            verifiesUser: verifiesUser, answersCIBA: answersCIBA, trouble: trouble)
    }
}

extension ApprovalRequest {
    /// A sample request, which does not expire.
    static func sample(for account: Account = .sample(), message: String? = nil, numbers: [String]? = nil) -> ApprovalRequest {
        ApprovalRequest(
            id: "sample \(message ?? "")\(numbers?.joined() ?? "")", accountID: account.id, application: "Example App", place: "Lisbon",
            system: "macOS 15", message: message, isCIBA: message != nil, numbers: numbers,
            time: Date(timeIntervalSince1970: 1_900_000_000),
            expiresAt: .distantFuture, isVerified: true)
    }
}
