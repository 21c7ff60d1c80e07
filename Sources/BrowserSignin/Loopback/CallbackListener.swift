#if os(Linux) || os(macOS)
internal import AuthFoundation
internal import Foundation

/// A listener on the loopback address that receives one redirect, on its own thread, and then closes. Safe from any thread. It uses system
/// sockets because it serves one small request, with strict limits on size and connections, and must close immediately.
final class CallbackListener: Sendable {
    /// The maximum number of connections. Browsers open spare connections; at the limit, the oldest connection is closed.
    static let maximumConnections = 16
    /// The maximum number of bytes that the client of a connection can send after the response.
    static let maximumRest = 65_536

    let redirectUri: URL

    private let rules: CallbackRules
    private let redirect = Decision<URL>()
    /// The pages to which the one-time paths redirect, by path.
    private let hops = Locked<[String: URL]>([:])
    private let closed = Decision<Void>()
    /// The write end of the pipe that tells the thread to close, or `nil` after it closed.
    private let bell: Locked<Int32?>

    /// Starts to listen at the port of `target`, or at any free port if `target` has none.
    /// - Parameter isAnswer: Returns whether a URL is the expected redirect.
    /// - Throws: ``SystemBrowserError/cannotListen(port:reason:)``.
    init(_ target: LoopbackRedirect, isAnswer: @escaping @Sendable (URL) -> Bool) throws {
        let sockets = try LoopbackSocket.listening(for: target)
        let port = sockets[0].port
        let authority = "\(target.host):\(port)"
        rules = CallbackRules(
            authority: port == 80 ? target.host : authority, path: target.path, isAnswer: isAnswer,
            takeHop: { [hops] path in hops.withLock { $0.removeValue(forKey: path) } })
        var ends: [Int32] = [-1, -1]
        guard let redirectUri = URL(string: "http://\(authority)\(target.path)"), pipe(&ends) == 0 else {
            for socket in sockets { closeDescriptor(socket.descriptor) }
            throw SystemBrowserError.cannotListen(port: target.port, reason: String(cString: strerror(errno)))
        }
        self.redirectUri = redirectUri
        bell = Locked(ends[1])
        // A failure is harmless: at worst, the browser process inherits the pipe.
        for end in ends { try? LoopbackSocket.prepare(end) }
        let thread = Thread { [self, ear = ends[0]] in
            var loop = CallbackEventLoop(listeners: sockets.map(\.descriptor), ear: ear, rules: rules)
            let result = loop.serve()
            // Close the write end first: writing to a pipe without a reader raises SIGPIPE.
            if let bell = bell.withLock({ $0.take() }) { closeDescriptor(bell) }
            loop.close()
            redirect.decide(result)
            closed.decide(.success(()))
        }
        thread.name = "countersign-redirect"
        thread.start()
    }

    /// Returns a loopback address that redirects to `page` once, while the listener is open. A used address does not reveal the page.
    /// - Parameter name: An unguessable name of letters, digits, `-` and `_`.
    /// - Throws: ``SystemBrowserError/cannotOpen(commands:)`` if the page is not http or https.
    func hop(to page: URL, name: String) throws -> URL {
        guard ["http", "https"].contains(page.scheme?.lowercased()), let hop = URL(string: "http://\(rules.authority)/\(name)") else {
            throw SystemBrowserError.cannotOpen(commands: [])
        }
        hops.withLock { $0["/\(name)"] = page }
        return hop
    }

    /// Waits for the redirect and returns its URL. Cancelling the task closes the listener.
    /// - Throws: `CancellationError` if the listener was closed; ``SystemBrowserError/cannotListen(port:reason:)`` if the listener failed.
    func answer() async throws -> URL {
        try await withTaskCancellationHandler {
            try await redirect.value()
        } onCancel: {
            close()
        }
    }

    /// Closes the port and all connections. Later calls are no-ops.
    func close() {
        // The lock is held during the write, so the thread cannot close the descriptor meanwhile.
        bell.withLock { bell in
            var ring: UInt8 = 1
            if let bell { _ = write(bell, &ring, 1) }
        }
    }

    /// Waits until the port is closed, which is soon after the redirect or ``close()``.
    func end() async {
        // The result is always a success.
        try? await closed.value()
    }
}

private func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Glibc)
    _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
    _ = Musl.close(descriptor)
    #else
    _ = Darwin.close(descriptor)
    #endif
}

/// The event loop of the listener's thread.
private struct CallbackEventLoop {
    private struct Connection {
        let descriptor: Int32
        var received: [UInt8] = []
        var isAnswered = false
        var rest = 0
    }

    private enum Step {
        case goesOn
        case ended
        case redirected(URL)
    }

    let listeners: [Int32]
    /// The read end of the pipe that signals a close.
    let ear: Int32
    let rules: CallbackRules
    private var connections: [Connection] = []

    init(listeners: [Int32], ear: Int32, rules: CallbackRules) {
        self.listeners = listeners
        self.ear = ear
        self.rules = rules
    }

    /// Handles connections until the redirect arrives, a close is signaled or a socket fails.
    mutating func serve() -> Result<URL, any Error> {
        while true {
            var watched = ([ear] + listeners + connections.map(\.descriptor)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&watched, nfds_t(watched.count), -1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return failure() }
            if watched[0].revents != 0 { return .failure(CancellationError()) }
            for index in connections.indices.reversed() where watched[index + 1 + listeners.count].revents != 0 {
                switch step(&connections[index]) {
                case .goesOn: break
                case .ended: closeDescriptor(connections.remove(at: index).descriptor)
                case .redirected(let url): return .success(url)
                }
            }
            for (index, listener) in listeners.enumerated() where watched[index + 1].revents != 0 {
                guard accept(at: listener) else { return failure() }
            }
        }
    }

    func close() {
        for connection in connections { closeDescriptor(connection.descriptor) }
        for listener in listeners { closeDescriptor(listener) }
        closeDescriptor(ear)
    }

    private func failure() -> Result<URL, any Error> {
        .failure(SystemBrowserError.cannotListen(port: nil, reason: String(cString: strerror(errno))))
    }

    /// Accepts a connection. Returns `false` if the listening socket failed.
    private mutating func accept(at listener: Int32) -> Bool {
        #if canImport(Glibc)
        let descriptor = Glibc.accept(listener, nil, nil)
        #elseif canImport(Musl)
        let descriptor = Musl.accept(listener, nil, nil)
        #else
        let descriptor = Darwin.accept(listener, nil, nil)
        #endif
        // Ignore a client that disconnected before it was accepted.
        guard descriptor >= 0 else { return [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(errno) }
        do { try LoopbackSocket.prepare(descriptor) } catch {
            closeDescriptor(descriptor)
            return true
        }
        if connections.count >= CallbackListener.maximumConnections { closeDescriptor(connections.removeFirst().descriptor) }
        connections.append(Connection(descriptor: descriptor))
        return true
    }

    private func step(_ connection: inout Connection) -> Step {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return .goesOn }
        guard count > 0 else { return .ended }
        if connection.isAnswered {
            // Read the rest before closing: closing a connection with unread bytes can discard the response.
            connection.rest += count
            return connection.rest > CallbackListener.maximumRest ? .ended : .goesOn
        }
        connection.received += buffer[..<count]
        // Only a line feed can complete the request head. This check avoids parsing all bytes again when a client sends single bytes.
        guard buffer[..<count].contains(0x0A) || connection.received.count > CallbackRules.maximumSize else { return .goesOn }
        switch rules.verdict(on: connection.received) {
        case .incomplete: return .goesOn
        case .refused(let page):
            connection.received = []
            connection.isAnswered = true
            send(page.response, to: connection.descriptor)
            return .goesOn
        case .hop(let page):
            connection.received = []
            connection.isAnswered = true
            send(CallbackPage.redirect(to: page), to: connection.descriptor)
            return .goesOn
        case .answer(let url):
            send(CallbackPage.taken.response, to: connection.descriptor)
            return .redirected(url)
        }
    }

    /// Sends a response without waiting. Responses fit into the send buffer; a client that receives only a part has disconnected.
    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        #if canImport(Darwin)
        let flags: Int32 = 0
        _ = Darwin.send(descriptor, bytes, bytes.count, flags)
        _ = shutdown(descriptor, SHUT_WR)
        #elseif canImport(Glibc)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        _ = shutdown(descriptor, Int32(SHUT_WR))
        #else
        _ = Musl.send(descriptor, bytes, bytes.count, MSG_NOSIGNAL)
        _ = shutdown(descriptor, SHUT_WR)
        #endif
    }
}
#endif
