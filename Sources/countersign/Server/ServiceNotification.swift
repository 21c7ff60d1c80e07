import Foundation

/// Sends the state of the service to systemd, by the protocol of sd_notify(3): one datagram to the socket in `NOTIFY_SOCKET`. Without the
/// variable, nothing is sent.
enum ServiceNotification {
    static let ready = "READY=1"
    static let stopping = "STOPPING=1"

    static func send(_ state: String, to path: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) {
        #if os(Linux)
        guard let path, path.hasPrefix("/") || path.hasPrefix("@") else { return }
        // An “@” stands for the NUL of an abstract address.
        let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        var address = sockaddr_un()
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (path.hasPrefix("@") ? 0 : 1))
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(state.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        #endif
    }
}
