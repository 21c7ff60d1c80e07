import CountersignSandbox
import Delivery
import Foundation
import Testing

@Suite("Connections to the push service", .timeLimit(.minutes(2)))
struct ConnectionTests {
    @Test("Concurrent and sequential pushes share one connection to the push service")
    func isShared() async throws {
        try await PushTestbed.run { (bed) async throws in
            let outcomes = await bed.sendAtOnce(200)
            #expect(outcomes.filter(\.isDelivered).count == 200)
            for _ in 0..<20 { #expect(await bed.sender.send(bed.push()).isDelivered) }
            #expect(bed.gateway.received.count == 220)
            #expect(bed.gateway.connectionCount == 1)
        }
    }

    @Test("Each APNs environment has its own connection, and rejects a device token of the other environment")
    func environments() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.register("aa11", environment: .production)
            #expect(await bed.sender.send(bed.push()).isDelivered)
            #expect(await bed.sender.send(bed.push(to: "aa11", environment: .production)).isDelivered)
            #expect(bed.gateway.received.map(\.environment) == [.development, .production])
            #expect(bed.gateway.connectionCount == 2)
            // A device token of one environment is unknown in the other.
            #expect(await bed.sender.send(bed.push(environment: .production)) == .tokenDead(since: nil))
        }
    }

    @Test("After an HTTP/2 GOAWAY, the next push uses another connection, and no push is lost")
    func goAway() async throws {
        try await PushTestbed.run { (bed) async throws in
            bed.gateway.misbehave(.goAway(answering: true))
            #expect(await bed.sender.send(bed.push()).isDelivered)
            for _ in 0..<3 { #expect(await bed.sender.send(bed.push()).isDelivered) }
            #expect(bed.gateway.received.filter { $0.status == 200 }.count == 4)
            #expect(bed.gateway.received.last?.connection == 2)
            #expect(bed.gateway.connectionCount == 2)
        }
    }

    /// The network decides whether a GOAWAY meets an idle connection; usually it does.
    @Test("The shutdown of a push sender does not wait for a push service that sent GOAWAY but keeps the connection open")
    func shutdownAfterGoodbyes() async throws {
        try await PushTestbed.run { (bed) async throws in
            for _ in 0..<30 {
                bed.gateway.misbehave(.goAway(answering: true))
                #expect(await bed.sender.send(bed.push()).isDelivered)
            }
            await bed.sender.shutdown()
            #expect(bed.gateway.received.filter { $0.status == 200 }.count == 30)
        }
    }

    @Test("A push whose device token, topic or ID would change the request's path or headers is rejected without a connection")
    func injection() async throws {
        try await PushTestbed.run { (bed) async throws in
            for token in ["", "../device/00", "00/11", "00?x=1", "zz", "00 11", "００"] {
                #expect(await bed.sender.send(bed.push(to: token)) == .tokenDead(since: nil))
            }
            for topic in ["", "com.example\r\napns-priority: 1", "com example", "cöm"] {
                #expect(await bed.sender.send(bed.push(topic: topic)) == .refused(reason: "BadTopic", status: 400))
            }
            #expect(await bed.sender.send(bed.push(collapseID: "a\nb")) == .refused(reason: "BadCollapseId", status: 400))
            var push = bed.push()
            push.id = "not\na UUID"
            #expect(await bed.sender.send(push) == .refused(reason: "BadMessageId", status: 400))
            #expect(bed.gateway.connectionCount == 0)
        }
    }

    @Test("The push sender sends an upper-case device token in lower case")
    func lowerCase() async throws {
        try await PushTestbed.run { (bed) async throws in
            #expect(await bed.sender.send(bed.push(to: PushTestbed.deviceToken.uppercased())).isDelivered)
            #expect(bed.gateway.received.map(\.deviceToken) == [PushTestbed.deviceToken])
        }
    }

    @Test("A background push is sent with the push type background and priority 5")
    func background() async throws {
        try await PushTestbed.run { (bed) async throws in
            var push = bed.push()
            push.pushType = .background
            push.priority = .whenConvenient
            #expect(await bed.sender.send(push).isDelivered)
            #expect(bed.gateway.received.first?.headers["apns-push-type"] == "background")
            #expect(bed.gateway.received.first?.headers["apns-priority"] == "5")
            #expect(bed.gateway.received.first?.headers["apns-collapse-id"] == nil)
        }
    }
}
