import ArgumentParser
import AuthorizationServer

/// The ports of a sandbox, with the flags that choose them.
enum SandboxPorts {
    /// Checks, before anything starts, that every port is free.
    ///
    /// - Throws: `PortError` that names each port that is not, its purpose and its flag.
    static func check(server: Int, serverFlag: String = "--port", messages: Int, phones: Int) async throws {
        try await PortUse.check([
            PortUse(port: server, purpose: "authorization server", flag: serverFlag),
            PortUse(port: messages, purpose: "resource server", flag: "--messages-port"),
            PortUse(port: phones, purpose: "virtual phones", flag: "--phone-port"),
        ])
    }

    /// Refuses numbers that are no ports.
    ///
    /// - Parameter ports: Each number with its flag; `nil` for a flag that was not given.
    /// - Throws: `ValidationError` that names the flag.
    static func validate(_ ports: [(flag: String, port: Int?)]) throws {
        for (flag, port) in ports {
            guard let port, !(0...65_535).contains(port) else { continue }
            throw ValidationError("\(flag) is a port from 1 to 65535, or 0 for a free one, not \(port).")
        }
    }
}
