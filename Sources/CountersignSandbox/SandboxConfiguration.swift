package import AuthorizationServer
public import Foundation
public import JOSE
public import Logging

extension Sandbox {
    /// What a sandbox is made of.
    public struct Configuration: Sendable, Redacted {
        /// Where the server listens.
        public enum Listening: Sendable, Equatable {
            /// Nowhere: requests reach it through ``Sandbox/transport`` only.
            case inProcess
            /// On a port of this machine's loopback interface; 0 takes a free one.
            case port(Int)
        }

        /// Where the server listens.
        public var listening: Listening
        /// The host name in the issuer's URL: `localhost` or `127.0.0.1`.
        public var host: String
        /// Whether it speaks TLS, with a certificate of the sandbox's own ``LocalAuthority``.
        public var usesTLS: Bool
        /// The port of the sample resource server, 0 for a free one; nil for none.
        public var messagesPort: Int?
        /// The port of the phones' page, 0 for a free one; nil for none.
        public var phonePort: Int?
        /// Where its state is kept; nil for memory.
        public var folder: URL?
        /// The text of an org file; nil for the usual one.
        public var organization: String?
        /// An org file that was read, whose authorization server `default` is the sandbox's issuer; takes the place of its text.
        package var organizationFile: OrgFile?
        /// The people; nil for those of the organization.
        public var users: [SandboxUser]?
        /// The clock of both sides.
        public var clock: SandboxClock
        /// Where the server logs.
        public var logger: Logger

        /// Describes a sandbox.
        ///
        /// - Parameters:
        ///   - listening: Where the server listens; by default on a free port.
        ///   - host: The host name in the issuer's URL.
        ///   - usesTLS: Whether it speaks TLS.
        ///   - messagesPort: The port of the sample resource server, 0 for a free one; nil for none.
        ///   - phonePort: The port of the page that shows the virtual phones, 0 for a free one; nil for none.
        ///   - folder: Where its state is kept; nil for memory.
        ///   - organization: The text of an org file, whose authorization server `default` is the sandbox's issuer; nil for the usual one.
        ///   - users: The people; nil for those of the organization.
        ///   - clock: The clock of both sides.
        ///   - logger: Where the server logs; by default nowhere.
        public init(
            listening: Listening = .port(0), host: String = "127.0.0.1", usesTLS: Bool = false, messagesPort: Int? = nil,
            phonePort: Int? = nil, folder: URL? = nil,
            organization: String? = nil, users: [SandboxUser]? = nil, clock: SandboxClock = SandboxClock(), logger: Logger? = nil
        ) {
            self.listening = listening
            self.host = host
            self.usesTLS = usesTLS
            self.messagesPort = messagesPort
            self.phonePort = phonePort
            self.folder = folder
            self.organization = organization
            self.users = users
            self.clock = clock
            self.logger = logger ?? Logger(label: "countersign.sandbox") { _ in SwiftLogNoOpLogHandler() }
        }
    }
}

extension Sandbox {
    /// Resets the sandbox to its initial state, so that tests do not affect each other.
    ///
    /// - Users, passwords, factors and applications have their initial values. Lockouts and counters are cleared.
    /// - Sessions, tokens, pending sign-ins and virtual phones are removed.
    /// - Messages, requests, and the faults of the server, the outbox and the push gateway are deleted.
    /// - All changes of the clock are undone, and the first signing key signs again.
    ///
    /// Users get new ids, as after a restart.
    ///
    /// - Throws: If the store failed.
    public func reset() async throws {
        await phones.reset()
        pushGateway.forget()
        faults.clear()
        clock.reset()
        keys.startOver()
        try await organization.reset(making: { [keys] in try keys.make($0) })
        apps.reset()
        tokens.reset()
        outbox.reset()
        log.clear()
    }
}
