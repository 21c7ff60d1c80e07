internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A TCP proxy on this machine that can cut a connection around a request. It has threads of its own for blocking calls.
public final class CuttingProxy: Sendable {
    /// When to cut a connection whose client sends a certain text.
    public enum Cut: Sendable {
        /// The text does not reach the server.
        case before
        /// The text reaches the server, and its answer does not reach the client.
        case after
    }

    /// The port on which the proxy listens.
    public let port: Int
    private let socket: ListeningSocket
    private let target: Int
    private let count = Locked(0)
    /// The number of writes of all clients so far. A small request is one write.
    public var writes: Int { count.withLock { $0 } }
    /// The next cut. It happens once.
    private let next = Locked<(text: String, cut: Cut)?>(nil)

    /// Starts a proxy to a port of this machine. Throws ``PlainListener/Failure``.
    public init(to target: Int) throws {
        socket = try ListeningSocket(backlog: 16)
        (port, self.target) = (socket.port, target)
        Thread.detachNewThread { [socket, weak self] in
            while true {
                let client = accept(socket.descriptor, nil, nil)
                guard client >= 0, let self, let server = Self.connect(self.target) else { break }
                Thread.detachNewThread { self.forward(client, server, isFromClient: true) }
                Thread.detachNewThread { self.forward(server, client, isFromClient: false) }
            }
            ListeningSocket.close(socket.descriptor)
        }
    }

    deinit { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

    /// Cuts the next connection whose client sends this text.
    public func cut(_ cut: Cut, _ text: String) { next.withLock { $0 = (text, cut) } }

    /// Whether the cut that was asked for has happened.
    public var hasCut: Bool { next.withLock { $0 == nil } }

    private func forward(_ from: Int32, _ to: Int32, isFromClient: Bool) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            if isFromClient { self.count.withLock { $0 += 1 } }
            let cut: Cut? =
                isFromClient
                ? next.withLock { next in
                    guard let (text, cut) = next, Data(chunk[..<count]).range(of: Data(text.utf8)) != nil else { return nil }
                    next = nil
                    return cut
                } : nil
            if cut == .before { break }
            // After this, the server's answer has no way back.
            if cut == .after { shutdown(from, Int32(SHUT_WR)) }
            guard send(to, chunk, count, Int32(MSG_NOSIGNAL)) == count, cut == nil else { break }
        }
        for descriptor in [from, to] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private static func connect(_ port: Int) -> Int32? {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        return isConnected ? descriptor : nil
    }
}
