#if os(Linux) || os(macOS)
internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Listens at the loopback address for one redirect, on a thread of its own, and closes when it has come.
///
/// Sockets of the system and no library: the whole need is one request of some hundred bytes, with limits on its size and on the number of
/// connections that a general server leaves to its user, and an end at once. Safe from any thread.
final class CallbackListener: Sendable {
    /// How many connections there may be. Browsers open some in advance; of more, the oldest is closed.
    static let maximumConnections = 16
    /// How many bytes a connection may bring after it was answered.
    static let maximumRest = 65_536

    /// The redirect URI with the port.
    let redirectUri: URL

    private let rules: CallbackRules
    private let redirect = Decision<URL>()
    /// Where paths lead on to that were given out.
    private let hops = Locked<[String: URL]>([:])
    private let closed = Decision<Void>()
    /// The end of the pipe by which the thread is told to close; nil when it has closed.
    private let bell: Locked<Int32?>

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - target: Where. With a port of its own, at that.
    ///   - isAnswer: Whether a URL is the answer that is waited for.
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
        // A fresh pipe can be told that; where not, nothing worse comes of it than that a browser inherits it.
        for end in ends { try? LoopbackSocket.prepare(end) }
        let thread = Thread { [self, ear = ends[0]] in
            var desk = Desk(listeners: sockets.map(\.descriptor), ear: ear, rules: rules)
            let result = desk.serve()
            // First the end that others write to: a pipe that nobody reads any more would be a signal to them.
            if let bell = bell.withLock({ $0.take() }) { closeDescriptor(bell) }
            desk.close()
            redirect.decide(result)
            closed.decide(.success(()))
        }
        thread.name = "countersign-redirect"
        thread.start()
    }

    /// An address that leads on to a page, once and while this listens. Whoever sees it when it was used learns nothing of the page.
    ///
    /// - Parameters:
    ///   - page: The page, of http or https.
    ///   - name: What nobody can guess: letters, digits, `-` and `_`.
    /// - Returns: The address.
    /// - Throws: ``SystemBrowserError/cannotOpen(commands:)`` for another address than one of the web.
    func hop(to page: URL, name: String) throws -> URL {
        guard ["http", "https"].contains(page.scheme?.lowercased()), let hop = URL(string: "http://\(rules.authority)/\(name)") else {
            throw SystemBrowserError.cannotOpen(commands: [])
        }
        hops.withLock { $0["/\(name)"] = page }
        return hop
    }

    /// Waits for the redirect. Cancelling the task closes the listener.
    ///
    /// - Returns: The URL that the browser was sent to.
    /// - Throws: `CancellationError` if the listener was closed; ``SystemBrowserError/cannotListen(port:reason:)`` if it failed.
    func answer() async throws -> URL {
        try await withTaskCancellationHandler {
            try await redirect.value()
        } onCancel: {
            close()
        }
    }

    /// Closes the port and all connections. Nothing if they are.
    func close() {
        // Under the lock, so that the thread can't have closed the descriptor.
        bell.withLock { bell in
            var ring: UInt8 = 1
            if let bell { _ = write(bell, &ring, 1) }
        }
    }

    /// Waits until nobody listens any more, which is soon after the answer, or ``close()``.
    func end() async {
        // It only succeeds.
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

/// What the listener's thread works at.
private struct Desk {
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
    /// The end of the pipe at which a close is heard.
    let ear: Int32
    let rules: CallbackRules
    private var connections: [Connection] = []

    init(listeners: [Int32], ear: Int32, rules: CallbackRules) {
        self.listeners = listeners
        self.ear = ear
        self.rules = rules
    }

    /// Serves until the redirect has come, or until it is told to close.
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

    /// - Returns: Whether it can go on.
    private mutating func accept(at listener: Int32) -> Bool {
        #if canImport(Glibc)
        let descriptor = Glibc.accept(listener, nil, nil)
        #elseif canImport(Musl)
        let descriptor = Musl.accept(listener, nil, nil)
        #else
        let descriptor = Darwin.accept(listener, nil, nil)
        #endif
        // Who has gone already is nobody's trouble.
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
            // Closed before the other side has read the answer, a connection with bytes left to read would take the answer with it.
            connection.rest += count
            return connection.rest > CallbackListener.maximumRest ? .ended : .goesOn
        }
        connection.received += buffer[..<count]
        // Only the end of a line can end the head: who sends byte by byte does not make all of it be read again and again.
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

    /// An answer is shorter than what the system takes without waiting; who does not get it all has gone.
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
