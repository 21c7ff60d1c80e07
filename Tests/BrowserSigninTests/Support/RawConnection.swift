import Foundation

@testable import BrowserSignin

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A connection for bytes that no browser would send. Its calls run on a separate thread.
struct RawConnection: Sendable {
    struct Refused: Error {}

    private let descriptor: Int32

    /// - Throws: ``Refused`` if the port is not open.
    init(port: Int, address: UInt32 = 0x7F00_0001) async throws {
        descriptor = try await Self.onThread {
            #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
            #else
            let kind = SOCK_STREAM
            #endif
            let descriptor = socket(AF_INET, kind, 0)
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
            target.sin_addr.s_addr = address.bigEndian
            // With the timeout, a test that would wait endlessly fails.
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let status = withUnsafePointer(to: &target) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard status == 0 else {
                close(descriptor)
                throw Refused()
            }
            return descriptor
        }
    }

    func send(_ text: String) async throws {
        try await Self.onThread { [descriptor] in
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let bytes = Array(text.utf8)
            #if canImport(Glibc)
            _ = Glibc.send(descriptor, bytes, bytes.count, flags)
            #elseif canImport(Musl)
            _ = Musl.send(descriptor, bytes, bytes.count, flags)
            #else
            _ = Darwin.send(descriptor, bytes, bytes.count, flags)
            #endif
        }
    }

    /// Reads until the peer closes the connection.
    func rest() async throws -> String {
        try await Self.onThread { [descriptor] in
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return String(decoding: received, as: UTF8.self) }
                received += buffer[..<count]
            }
        }
    }

    func end() { close(descriptor) }

    /// Sends a request and reads the whole response.
    static func answer(to request: String, port: Int) async throws -> String {
        let connection = try await RawConnection(port: port)
        defer { connection.end() }
        try await connection.send(request)
        return try await connection.rest()
    }

    private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let result = Decision<Value>()
        Thread { result.decide(Result { try work() }) }.start()
        return try await result.value()
    }
}
