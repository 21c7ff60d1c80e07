#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A socket that listens on a free port of this machine. The owner must close it.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let port: Int

    /// Starts to listen.
    ///
    /// - Throws: ``PlainListener/Failure`` if the system has no port or no socket.
    init(backlog: Int32) throws(PlainListener.Failure) {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw PlainListener.Failure() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, backlog) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else {
            Self.close(descriptor)
            throw PlainListener.Failure()
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    #if canImport(Glibc)
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
    #else
    static func close(_ descriptor: Int32) { _ = Darwin.close(descriptor) }
    #endif
}
