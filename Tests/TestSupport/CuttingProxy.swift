internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A TCP proxy on this machine that can cut a connection around a request, or stop forwarding for a while, like a network that loses every
/// packet. It has its own threads for blocking calls.
public final class CuttingProxy: Sendable {
    /// The moment at which the proxy cuts a connection whose client sends a certain text.
    public enum Cut: Sendable {
        /// Before the text: it does not reach the server.
        case before
        /// After the text: it reaches the server, but the server's answer does not reach the client.
        case after
    }

    /// The port on which the proxy listens.
    public let port: Int
    private let socket: ListeningSocket
    private let target: Locked<Int>
    private let count = Locked(0)
    /// The number of writes of all clients so far. A small request is one write.
    public var writes: Int { count.withLock { $0 } }
    /// The next cut, which happens once; `nil` for none.
    private let next = Locked<(text: String, cut: Cut)?>(nil)
    private let stopped = Locked(false)

    /// Starts a proxy to a port of this machine. Throws ``PlainListener/Failure``.
    public init(to target: Int) throws {
        socket = try ListeningSocket(backlog: 16)
        (port, self.target) = (socket.port, Locked(target))
        Thread.detachNewThread { [socket, weak self] in
            while true {
                let client = accept(socket.descriptor, nil, nil)
                guard client >= 0, let self else { break }
                self.waitWhileStopped()
                // If the server cannot be reached, the proxy closes the client's connection.
                guard let server = Self.connect(self.target.withLock { $0 }) else {
                    ListeningSocket.close(client)
                    continue
                }
                Thread.detachNewThread { self.forward(client, server, isFromClient: true) }
                Thread.detachNewThread { self.forward(server, client, isFromClient: false) }
            }
            ListeningSocket.close(socket.descriptor)
        }
    }

    deinit { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

    /// Cuts the next connection whose client sends this text.
    public func cut(_ cut: Cut, _ text: String) { next.withLock { $0 = (text, cut) } }

    /// Whether the last cut that ``cut(_:_:)`` requested has happened.
    public var hasCut: Bool { next.withLock { $0 == nil } }

    /// Forwards new connections to another port.
    public func retarget(to port: Int) { target.withLock { $0 = port } }

    /// Stops forwarding. Connections stay open.
    public func stop() { stopped.withLock { $0 = true } }

    /// Resumes forwarding, beginning with the bytes that arrived meanwhile.
    public func resume() { stopped.withLock { $0 = false } }

    /// Blocks a thread of the proxy while forwarding is stopped.
    private func waitWhileStopped() { while stopped.withLock({ $0 }) { usleep(10_000) } }

    private func forward(_ from: Int32, _ to: Int32, isFromClient: Bool) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &chunk, chunk.count, 0)
            waitWhileStopped()
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
            // The server's answer can no longer reach the client.
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
