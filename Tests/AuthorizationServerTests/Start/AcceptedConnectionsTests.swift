import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import AuthorizationServer

@Suite("Accepted connections", .timeLimit(.minutes(1)))
struct AcceptedConnectionsTests {
    @Test("A connection that is accepted when the server has already stopped is closed without being handled")
    func dropped() async throws {
        let connections = AcceptedConnections(http: HTTP1Channel { _, _, _ in Issue.record("It was handled.") })
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            _ = connections.setup(channel: channel, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        try await channel.closeFuture.get()
        #expect(!channel.isActive)
    }
}
