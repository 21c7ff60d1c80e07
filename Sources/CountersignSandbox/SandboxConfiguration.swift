package import AuthorizationServer
public import Foundation
public import JOSE
public import Logging
package import Store

extension Sandbox {
    /// Several servers that share a database, behind a proxy; for the tests of this package.
    package struct Instances: Sendable {
        /// A function that opens a store for each server.
        let stores: @Sendable () async throws -> [any Store]
        /// A function that starts a proxy to the ports of the servers. It returns the proxy's port and a function that stops the proxy.
        let proxy: @Sendable ([Int]) async throws -> (port: Int, stop: @Sendable () async -> Void)

        package init(
            stores: @escaping @Sendable () async throws -> [any Store],
            proxy: @escaping @Sendable ([Int]) async throws -> (port: Int, stop: @Sendable () async -> Void)
        ) {
            (self.stores, self.proxy) = (stores, proxy)
        }
    }

    /// The configuration of a sandbox.
    public struct Configuration: Sendable, Redacted {
        /// The address where the server listens.
        public enum Listening: Sendable, Equatable {
            /// No port: requests can use only ``Sandbox/transport``.
            case inProcess
            /// A port of this machine's loopback interface; 0 selects a free port.
            case port(Int)
        }

        /// The address where the server listens.
        public var listening: Listening
        /// The host name in the issuer's URL: `localhost` or `127.0.0.1`.
        public var host: String
        /// Whether the server uses TLS, with a certificate of the sandbox's own ``LocalAuthority``.
        public var usesTLS: Bool
        /// The port of the sample resource server, 0 for a free port; `nil` for no resource server.
        public var messagesPort: Int?
        /// The port of the page with the virtual phones, 0 for a free port; `nil` for no page.
        public var phonePort: Int?
        /// The folder of the sandbox's state; `nil` to keep it in memory.
        public var folder: URL?
        /// The text of an org file; `nil` for the default organization.
        public var organization: String?
        /// An org file that was already read; `nil` for none. It replaces ``organization``. Its authorization server `default` is the
        /// sandbox's issuer.
        package var organizationFile: OrgFile?
        /// The users; `nil` for the users of the org file.
        public var users: [SandboxUser]?
        /// The clock of the server and the clients.
        public var clock: SandboxClock
        /// The server's logger.
        public var logger: Logger
        /// Several servers instead of one; `nil` for one server. Ignored with a folder or a fixed port.
        package var instances: Instances?

        /// Creates a configuration.
        /// - Parameters:
        ///   - listening: The address where the server listens; by default a free port.
        ///   - host: The host name in the issuer's URL: `localhost` or `127.0.0.1`.
        ///   - messagesPort: The port of the sample resource server, 0 for a free port; `nil` for no resource server.
        ///   - phonePort: The port of the page with the virtual phones, 0 for a free port; `nil` for no page.
        ///   - folder: The folder of the sandbox's state; `nil` to keep it in memory.
        ///   - organization: The text of an org file, whose authorization server `default` is the sandbox's issuer; `nil` for the default
        ///     organization.
        ///   - users: The users; `nil` for the users of the org file.
        ///   - clock: The clock of the server and the clients.
        ///   - logger: The server's logger; `nil` for no log.
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
    /// Users get new IDs.
    /// - Throws: An error if the store fails.
    public func reset() async throws {
        await phones.reset()
        pushGateway.forget()
        faults.clear()
        clock.reset()
        keys.startOver()
        try await organization.reset(making: { [keys] in try keys.make($0) })
        await forgetCounts()
        apps.reset()
        tokens.reset()
        outbox.reset()
        log.clear()
    }
}
