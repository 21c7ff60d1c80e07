internal import AuthFoundation
internal import Delivery
public import DeviceAuthenticator
internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// A user's phone. It receives the pushes of sign-ins and answers them on command.
///
/// ```swift
/// let phone = try await sandbox.phone(for: "jane.doe@example.com")
/// async let status = flow.resume(with: .oob(channel: .push))
/// let request = try await phone.approveNext()
/// print("approved the sign-in to \(request.applicationName)")
/// ```
///
/// The phone uses the real `DeviceAuthenticator` for enrollment, keys, verification of requests and signed answers. Pushes come from the
/// sandbox's server through its ``PushGateway``. The phone can simulate faults of real phones.
///
/// Safe from any task. The phone stops with its sandbox; pending waits for a request then throw ``PhoneError/Code/removed``.
public final class VirtualPhone: Sendable {
    /// The dependencies of a phone.
    struct Parts: Sendable {
        let login: String
        let storage: PhoneStorage
        let clock: SandboxClock
        let network: PhoneNetwork
        let gateway: PushGateway
        /// The bundle ID in the pushes of the phone.
        let topic: String
        let signIn: PhoneSignIn
        let logger: PhoneLogger
        /// Returns the sandbox's current data of the user; `nil` if the user does not exist.
        let person: @Sendable () -> SandboxUser?
        let onRemoval: @Sendable () -> Void
    }

    struct State: Sendable {
        var device: any DeviceAuthenticatorProtocol
        var pushToken = Data()
        /// The maintenance tokens. They belong to the app, so a restart of the phone discards them.
        var upkeep = UpkeepTokens()
        var inbox = PhoneInbox()
        var answersByItself = false
        var toldNumber: String?
        var picksWrongNumber = false
        var deliversTwice = false
        var delay: TimeInterval = 0
        var isOn = true
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastTask: UInt64 = 0
    }

    let parts: Parts
    let owner: PhoneOwner
    private let state: NIOLockedValueBox<State>
    private let watchers = Broadcaster<Void>(capacity: 1)

    /// Starts a phone with the enrollment in its folder, if the folder has one.
    init(_ parts: Parts) throws {
        self.parts = parts
        owner = PhoneOwner()
        try parts.storage.prepare(for: parts.login)
        state = NIOLockedValueBox(State(device: try parts.makeDevice(owner: owner)))
        let token = try parts.storage.pushToken ?? parts.storage.renewPushToken()
        state.withLockedValue { $0.pushToken = token }
        register(token)
    }

    /// The login of the phone's owner.
    public var login: String { parts.login }

    /// Changes the state, then notifies the watchers.
    @discardableResult
    func change<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        let result = try state.withLockedValue { try body(&$0) }
        watchers.send(())
        return result
    }

    func read<Result>(_ body: (State) -> Result) -> Result { state.withLockedValue { body($0) } }

    /// A stream that yields once at the beginning, and after each visible change. It ends with the phone.
    var changes: AsyncStream<Void> { watchers.subscribe(startingWith: ()) }

    /// Starts a task that ends with the phone.
    func start(_ body: @escaping @Sendable (VirtualPhone) async -> Void) {
        state.withLockedValue { state in
            guard state.isOn else { return }
            state.lastTask += 1
            let id = state.lastTask
            state.tasks[id] = Task { [weak self] in
                if let self { await body(self) }
                self?.state.withLockedValue { $0.tasks[id] = nil }
            }
        }
    }

    /// Stops the phone permanently.
    func close() {
        let (tasks, token) = state.withLockedValue { state in
            defer {
                state.isOn = false
                state.inbox.forgetWaiting()
                state.tasks = [:]
            }
            return (state.tasks, state.pushToken)
        }
        parts.gateway.unregister(deviceToken: token.hexadecimal)
        for task in tasks.values { task.cancel() }
        watchers.finish()
    }

    /// Registers a push token at the gateway, as the operating system does at its push service.
    func register(_ token: Data) {
        parts.gateway.register(deviceToken: token.hexadecimal, topic: parts.topic, environment: .development) { [weak self] push in
            await self?.receive(push.payload)
        }
    }

    /// The pending requests, oldest first, without requests that are being answered.
    public var waiting: [Request] {
        let now = parts.clock.now
        if read({ $0.inbox.requests.contains { $0.expiresAt <= now } }) { change { _ = $0.inbox.expire(now: now) } }
        return read { $0.inbox.requests }
    }

    /// A stream of the pending requests, at once and after each change. It ends with the phone. Each access returns a new stream. A slow
    /// consumer may miss intermediate states, but never the last state.
    public var requests: AsyncStream<[Request]> { following { $0.waiting } }

    /// The latest 200 completed requests, oldest first.
    public var history: [HistoryEntry] { read { $0.inbox.history } }

    /// A stream of the history, at once and after each change. It behaves like ``requests``.
    public var historyUpdates: AsyncStream<[HistoryEntry]> { following { $0.history } }

    private func following<Value: Equatable & Sendable>(_ value: @escaping @Sendable (VirtualPhone) -> Value) -> AsyncStream<Value> {
        let changes = changes
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task { [weak self] in
                var last: Value?
                for await _ in changes {
                    guard let self else { break }
                    let current = value(self)
                    if current != last { continuation.yield(current) }
                    last = current
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The enrollments on the phone, as the SDK reports them: one enrollment; none after the phone was removed.
    public var enrollments: [any AuthenticatorEnrollmentProtocol] { read { $0.device }.allEnrollments() }
}

extension VirtualPhone.Parts {
    func makeDevice(owner: PhoneOwner) throws -> any DeviceAuthenticatorProtocol {
        try storage.authenticator(of: login, network: network, clock: clock, owner: owner, logger: logger)
    }
}
