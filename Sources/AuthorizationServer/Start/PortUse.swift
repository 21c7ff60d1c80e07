public import Foundation
internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A TCP port on which a program is about to listen, and its purpose.
package struct PortUse: Sendable, Equatable {
    package var host: String
    /// The port; 0 selects a free port.
    package var port: Int
    /// The purpose in the user's words, such as `virtual phones`.
    package var purpose: String
    /// The command-line option that selects another port; `nil` if there is none.
    package var flag: String?

    package init(host: String = "127.0.0.1", port: Int, purpose: String, flag: String? = nil) {
        (self.host, self.port, self.purpose, self.flag) = (host, port, purpose, flag)
    }

    /// Checks that every port can be bound, so that a program starts with all of its ports or not at all. Another program may bind a port
    /// after this check; ``binding(_:)`` then throws the same error.
    /// - Throws: ``PortError`` that names every unusable port.
    package static func check(_ uses: [PortUse]) async throws {
        var problems: [String] = []
        for (index, use) in uses.enumerated() where use.port != 0 {
            if let first = uses[..<index].first(where: { $0.port == use.port }) {
                problems.append("Port \(use.port) is wanted twice: by \(first.name) and \(use.name). Choose different ports.")
            } else if let problem = await use.problem() {
                problems.append(problem)
            }
        }
        guard problems.isEmpty else { throw PortError(problems: problems) }
    }

    private var name: String { flag.map { "\($0) (\(purpose))" } ?? purpose }

    private func problem() async -> String? {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                // The server sets the same option, which allows a port whose last connections are still closing.
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
            return nil
        } catch {
            return problem(error)
        }
    }

    /// Returns the message for an error of the system's `bind`; `nil` for other errors.
    func problem(_ error: any Error) -> String? {
        let other = flag.map { "Choose another with \($0)." } ?? "Choose another."
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE: return "Port \(port) (\(purpose)) is already in use. \(other)"
        case EACCES, EPERM: return "Port \(port) (\(purpose)) may not be opened by this user. \(other)"
        case EADDRNOTAVAIL: return "\(host) is no address of this machine, so port \(port) (\(purpose)) can't be opened there."
        default: return nil
        }
    }

    /// Runs a body that binds this port. Replaces the system's error with ``PortError``; other errors pass through.
    package func binding<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            if let problem = problem(error) { throw PortError(problems: [problem]) }
            throw error
        }
    }
}

extension AuthorizationServer.Configuration {
    package var portUse: PortUse { PortUse(host: host, port: port, purpose: "authorization server") }

    /// The port of the metrics; `nil` without metrics.
    var metricsUse: PortUse? { metricsPort.map { PortUse(host: metricsHost, port: $0, purpose: "metrics") } }

    /// Reads the TLS certificate and key, so that an unusable file fails before the server writes anything.
    /// - Throws: `ConfigurationError` if a file cannot be read, is unsafe, or is invalid.
    package func checkTLS() throws {
        if let tls { _ = try CurrentCertificate(tls) }
    }
}

/// The error for ports that cannot be bound, because another program uses them or the system forbids it.
public struct PortError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// One message per port: the port, its purpose, and the fix.
    public let problems: [String]

    init(problems: [String]) { self.problems = problems }

    /// The messages, one per line.
    public var description: String { problems.joined(separator: "\n") }
    /// The messages, one per line.
    public var errorDescription: String? { description }
}
