internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An HTTP server on this machine whose responses a test computes, one request per connection.
///
/// Each connection has its own thread, so that a response may wait for another request. The server closes when its last reference is
/// released.
public final class RespondingServer: Sendable {
    /// The port on which the server listens.
    public let port: Int
    private let descriptor: Int32
    /// Whether the descriptor is open. After the close, the system can reuse its number for another file.
    private let isOpen = Locked(true)

    /// Starts to listen.
    ///
    /// - Parameter respond: Returns the response to a request, such as ``PlainListener/answer(_:_:fields:)``. It may block its thread. An
    ///   empty text closes the connection without a response.
    /// - Throws: ``PlainListener/Failure``.
    public init(_ respond: @escaping @Sendable (PlainListener.Request) -> String) throws {
        let socket = try ListeningSocket(backlog: 16)
        let descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        Thread.detachNewThread { [isOpen] in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                Thread.detachNewThread {
                    if let request = PlainListener.read(connection) {
                        let response = Array(respond(request).utf8)
                        _ = send(connection, response, response.count, PlainListener.noSignal)
                    }
                    ListeningSocket.close(connection)
                }
            }
            // Only this thread closes the descriptor, so that the system does not reuse its number while the thread still waits on it.
            isOpen.withLock {
                $0 = false
                ListeningSocket.close(descriptor)
            }
        }
    }

    deinit { isOpen.withLock { if $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }
}
