internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers

/// The phones of a sandbox, by login.
final class VirtualPhones: Sendable {
    /// The dependencies that all phones share.
    struct Surroundings: Sendable {
        let origin: URL
        let transport: any URLSessionProtocol
        let gateway: PushGateway
        let clock: SandboxClock
        let logger: Logger
        let organization: SandboxOrganization
        let people: @Sendable () -> [SandboxUser]
        /// Returns the authenticator app of a login; `nil` for none.
        let app: @Sendable (String) -> AuthenticatorApp?

        /// The authenticator to enroll in; `nil` if the organization has none for phones.
        var authenticator: PushAuthenticator? { organization.authenticators.first { $0.kind == .customApp && $0.isActive } }
    }

    private struct State {
        var surroundings: Surroundings?
        var phones: [String: VirtualPhone] = [:]
        /// The enrollments in progress, by login. Concurrent callers wait for the same enrollment.
        var enrolling: [String: Task<VirtualPhone, any Error>] = [:]
        var isClosed = false
    }

    private let folder: URL
    private let isTemporary: Bool
    private let state = NIOLockedValueBox(State())
    private let watchers = Broadcaster<Void>(capacity: 1)

    /// Creates an empty collection. A temporary folder is deleted with the sandbox.
    init(folder: URL, isTemporary: Bool) {
        self.folder = folder
        self.isTemporary = isTemporary
    }

    /// Starts the phones that are stored in the folder, and allows enrollment.
    func open(_ surroundings: Surroundings) {
        state.withLockedValue { $0.surroundings = surroundings }
        for owner in PhoneStorage.owners(in: folder) {
            do {
                let phone = try make(for: owner, session: nil)
                state.withLockedValue { $0.phones[owner.lowercased()] = phone }
            } catch {
                surroundings.logger.error("a phone can't be opened", metadata: ["phone": "\(owner)", "error": "\(error)"])
            }
        }
    }

    func close() {
        let (phones, enrolling) = state.withLockedValue { state in
            defer {
                state = State()
                state.isClosed = true
            }
            return (state.phones, state.enrolling)
        }
        for task in enrolling.values { task.cancel() }
        for phone in phones.values { phone.close() }
        watchers.finish()
        // The folder does not exist if no phone was enrolled.
        if isTemporary { try? FileManager.default.removeItem(at: folder) }
    }

    /// Removes all phones without informing the server.
    func reset() async {
        let enrolling = state.withLockedValue { Array($0.enrolling.values) }
        for task in enrolling { task.cancel() }
        for task in enrolling { _ = await task.result }
        let phones = state.withLockedValue { state in
            defer { state.phones = [:] }
            return Array(state.phones.values)
        }
        for phone in phones {
            phone.close()
            // A folder that cannot be removed is harmless: the server no longer knows its phone.
            try? phone.parts.storage.remove()
        }
        watchers.send(())
    }

    /// The phones, sorted by login.
    var all: [VirtualPhone] { state.withLockedValue { $0.phones.values.sorted { $0.login < $1.login } } }

    /// Returns the phone of a login; `nil` if the user has none.
    func known(_ login: String) -> VirtualPhone? { state.withLockedValue { $0.phones[login.lowercased()] } }

    /// Returns a user's phone. Enrolls a phone if the user has none.
    func phone(for login: String, userVerification: Bool, session: (any URLSessionProtocol)?) async throws -> VirtualPhone {
        let task = state.withLockedValue { state in
            state.enrolling[login.lowercased()]
                ?? start(&state, login, session) { phone, authenticator, origin in
                    try await phone.enroll(
                        userVerification: userVerification || authenticator.userVerification == .required,
                        clientID: authenticator.clientID, origin: origin)
                }
        }
        // The enrollment is shared, so cancelling one caller does not cancel it.
        return try await task.value
    }

    /// Enrolls a user's phone with the QR code of a sign-in page.
    func phone(
        for login: String, scanning uri: String, userVerification: Bool, session: (any URLSessionProtocol)?
    ) async throws -> VirtualPhone {
        let link = try EnrollmentLink(uri)
        let key = login.lowercased()
        let task = state.withLockedValue { state -> Task<VirtualPhone, any Error>? in
            guard state.enrolling[key] == nil, state.phones[key] == nil else { return nil }
            return start(&state, login, session) { phone, authenticator, origin in
                guard link.organizationURL.absoluteString == origin.absoluteString, link.clientID == authenticator.clientID else {
                    throw PhoneError(.otherOrigin, "The code is not of this sandbox at \(origin.absoluteString).")
                }
                try await phone.enroll(
                    scanning: link, userVerification: userVerification || authenticator.userVerification == .required)
            }
        }
        guard let task else {
            throw PhoneError(.otherPerson, "\(login) has a phone in the sandbox already. Remove it first, or let it be asked.")
        }
        return try await task.value
    }

    /// A function that enrolls a phone, which is new or already in the sandbox.
    private typealias Enrollment = @Sendable (VirtualPhone, PushAuthenticator, URL) async throws -> Void

    private func start(
        _ state: inout State, _ login: String, _ session: (any URLSessionProtocol)?, _ enroll: @escaping Enrollment
    ) -> Task<VirtualPhone, any Error> {
        let key = login.lowercased()
        let task = Task { [weak self] in
            guard let self else { throw CancellationError() }
            defer { self.state.withLockedValue { $0.enrolling[key] = nil } }
            return try await self.enrolled(login, session: session, by: enroll)
        }
        if !state.isClosed { state.enrolling[key] = task }
        return task
    }

    private func enrolled(_ login: String, session: (any URLSessionProtocol)?, by enroll: Enrollment) async throws -> VirtualPhone {
        guard let surroundings = state.withLockedValue({ $0.surroundings }) else {
            throw PhoneError(.removed, "The sandbox has stopped.")
        }
        guard let authenticator = surroundings.authenticator else {
            throw PhoneError(
                .noAuthenticator, "The organization has no authenticator of type custom_app with push on. Add one, with an app for it.")
        }
        guard let login = surroundings.people().first(where: { $0.login.lowercased() == login.lowercased() })?.login else {
            throw PhoneError(.unknownPerson, "The sandbox has no user \(login). Add the user first.")
        }
        let isNew = known(login) == nil
        let phone = try known(login) ?? make(for: login, session: session)
        do {
            try await enroll(phone, authenticator, surroundings.origin)
        } catch {
            if isNew {
                phone.close()
                try? phone.parts.storage.remove()
            }
            throw error
        }
        let isClosed = state.withLockedValue { state in
            if !state.isClosed { state.phones[login.lowercased()] = phone }
            return state.isClosed
        }
        guard !isClosed else {
            phone.close()
            throw PhoneError(.removed, "The sandbox has stopped.")
        }
        watchers.send(())
        return phone
    }

    private func make(for login: String, session: (any URLSessionProtocol)?) throws -> VirtualPhone {
        guard let surroundings = state.withLockedValue({ $0.surroundings }), let authenticator = surroundings.authenticator else {
            throw PhoneError(.noAuthenticator, "The organization has no authenticator that phones could enroll in.")
        }
        let network = PhoneNetwork(session ?? surroundings.transport)
        let credentials = authenticator.credentials
        return try VirtualPhone(
            VirtualPhone.Parts(
                login: login, storage: PhoneStorage(of: login, in: folder), clock: surroundings.clock, network: network,
                gateway: surroundings.gateway, topic: credentials?.developmentTopic ?? credentials?.topic ?? "",
                signIn: PhoneSignIn(
                    origin: surroundings.origin, clientID: authenticator.clientID, clock: surroundings.clock, network: network,
                    app: surroundings.app),
                logger: PhoneLogger(logger: surroundings.logger, login: login),
                person: { surroundings.people().first { $0.login.lowercased() == login.lowercased() } },
                onRemoval: { [weak self] in self?.forget(login) }))
    }

    private func forget(_ login: String) {
        state.withLockedValue { $0.phones[login.lowercased()] = nil }
        watchers.send(())
    }

    /// A stream that yields once at the beginning, and after a phone was enrolled or removed. It ends with the sandbox.
    var changes: AsyncStream<Void> { watchers.subscribe(startingWith: ()) }
}
