internal import NIOCore
internal import NIOPosix

/// Finds a port that nobody listens on.
enum FreePort {
    /// Binds a free port of the loopback interface and lets it go again. Somebody else could take it before it is bound anew; the system
    /// hands out free ports in turn, so that this is rare, and binding fails loudly.
    static func find() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }
}
