#if os(Linux) || os(macOS)
internal import AuthFoundation
internal import Foundation

/// A listening socket on the loopback address. It is non-blocking, and child processes do not inherit it.
struct LoopbackSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    /// Listens on the loopback address only: on `::1` if `isIPv6`, else on 127.0.0.1. If `port` is `nil`, uses any free port.
    /// - Throws: ``SystemBrowserError/cannotListen(port:reason:)``.
    init(isIPv6: Bool, port: UInt16?) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else { throw SystemBrowserError.cannotListen(port: port, reason: Self.reason()) }
        do {
            try Self.prepare(descriptor)
            if port != nil {
                // The previous sign-in may have used this fixed port a moment ago.
                var on: Int32 = 1
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            }
            self.port = try isIPv6 ? Self.bind6(descriptor, port ?? 0) : Self.bind4(descriptor, port ?? 0)
            guard listen(descriptor, 16) == 0 else { throw Failure() }
        } catch {
            let reason = Self.reason()
            close(descriptor)
            throw SystemBrowserError.cannotListen(port: port, reason: reason)
        }
        self.descriptor = descriptor
    }

    /// Listens on every address that the browser can use. For `localhost` these are both addresses with the same port; otherwise another
    /// program could receive the redirect at the other address. If the system does not support IPv6, 127.0.0.1 alone is safe.
    static func listening(for target: LoopbackRedirect) throws -> [LoopbackSocket] {
        guard target.isBothAddresses else { return [try LoopbackSocket(isIPv6: target.isIPv6, port: target.port)] }
        var failure = SystemBrowserError.cannotListen(port: target.port, reason: "")
        // A port that is free on one address can be in use on the other. Retry with another port.
        for _ in 0..<(target.port == nil ? 16 : 1) {
            let first = try LoopbackSocket(isIPv6: false, port: target.port)
            do {
                return [first, try LoopbackSocket(isIPv6: true, port: first.port)]
            } catch let error as SystemBrowserError {
                guard let probe = try? LoopbackSocket(isIPv6: true, port: nil) else { return [first] }
                close(probe.descriptor)
                close(first.descriptor)
                failure = error
            }
        }
        throw failure
    }

    /// A system call failed; `errno` contains the reason.
    private struct Failure: Error {}

    /// Makes a descriptor non-blocking, and lets the system close it in child processes.
    static func prepare(_ descriptor: Int32) throws {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0 else {
            throw Failure()
        }
        #if canImport(Darwin)
        // Writing to a closed connection must return an error instead of raising SIGPIPE. Other systems use a flag of `send`.
        var on: Int32 = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    private static func bind4(_ descriptor: Int32, _ port: UInt16) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return try bind(descriptor, &address) { UInt16(bigEndian: $0.sin_port) }
    }

    private static func bind6(_ descriptor: Int32, _ port: UInt16) throws -> UInt16 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return try bind(descriptor, &address) { UInt16(bigEndian: $0.sin6_port) }
    }

    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address, port: (Address) -> UInt16) throws -> UInt16 {
        var size = socklen_t(MemoryLayout<Address>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> Int32 in
                #if canImport(Glibc)
                let status = Glibc.bind(descriptor, generic, size)
                #elseif canImport(Musl)
                let status = Musl.bind(descriptor, generic, size)
                #else
                let status = Darwin.bind(descriptor, generic, size)
                #endif
                return status == 0 ? getsockname(descriptor, generic, &size) : status
            }
        }
        guard status == 0 else { throw Failure() }
        return port(address)
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
#endif
