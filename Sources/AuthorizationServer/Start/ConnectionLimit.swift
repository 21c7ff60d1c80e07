internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import OAuthEndpoints
internal import ServerHTTP

/// Limits the open connections per IPv4 address or IPv6 /64. Safe from any thread. At its limit, an address loses the connection that has
/// waited longest for its client, so that idle connections do not lock out other users of the address. A connection with a complete request
/// waits for the server and is never closed, unless it reads an event stream. Closing takes time, because TLS waits for the client's
/// answer. If the open connections and the closing connections of an address together reach twice the limit, new connections of the
/// address are refused.
final class ConnectionLimit: Sendable {
    private struct Open {
        let channel: any Channel
        /// The sequence number of the moment when the connection began to wait for its client; `nil` while it waits for the server.
        var waitsSince: Int?
    }

    private struct Address {
        var connections: [ObjectIdentifier: Open] = [:]
        /// The connections that were selected for closing and are not closed yet.
        var closing: Set<ObjectIdentifier> = []
        /// Whether a warning was logged since the address was last below its limit.
        var isLogged = false

        var isEmpty: Bool { connections.isEmpty && closing.isEmpty }

        var longestWaiting: ObjectIdentifier? {
            connections.compactMap { id, open in open.waitsSince.map { (id, $0) } }.min { $0.1 < $1.1 }?.0
        }
    }

    private struct State {
        var addresses: [[UInt8]: Address] = [:]
        var moment = 0

        mutating func nextMoment() -> Int {
            moment += 1
            return moment
        }
    }

    private let most: Int
    private let proxies: [TrustedNetwork]
    private let state = NIOLockedValueBox(State())

    /// Creates a limit of `most` connections per address. The `proxies` have no limit, because each forwards the connections of many
    /// clients.
    init(most: Int, except proxies: [TrustedNetwork]) {
        self.most = most
        self.proxies = proxies
    }

    struct Place: Sendable {
        /// The address, or the /64 of an IPv6 address; `nil` for an unlimited peer.
        fileprivate let address: [UInt8]?
        fileprivate let id: ObjectIdentifier
    }

    /// Admits a connection until it is closed. Returns `nil` if the address has too many connections and none can be closed. A peer without
    /// an address is not limited. Logs one warning when an address reaches its limit.
    func admit(_ channel: any Channel, logger: Logger) -> Place? {
        let id = ObjectIdentifier(channel)
        guard let peer = channel.remoteAddress?.ipAddress, let bytes = IPAddress.bytes(of: peer),
            !proxies.contains(where: { $0.contains(peer) })
        else { return Place(address: nil, id: id) }
        let key = bytes.count == 16 ? Array(bytes[..<8]) : bytes
        let (isAdmitted, isNews, givenUp) = state.withLockedValue { state in
            var address = state.addresses[key] ?? Address()
            defer { state.addresses[key] = address }
            let isFull = address.connections.count >= most
            defer { address.isLogged = isFull }
            let isAtHardLimit = address.connections.count + address.closing.count >= 2 * most
            let longestWaiting = isFull && !isAtHardLimit ? address.longestWaiting : nil
            guard !isAtHardLimit, !isFull || longestWaiting != nil else { return (false, !address.isLogged, nil as (any Channel)?) }
            let givenUp = longestWaiting.flatMap { address.connections.removeValue(forKey: $0)?.channel }
            if let longestWaiting { address.closing.insert(longestWaiting) }
            address.connections[id] = Open(channel: channel, waitsSince: state.nextMoment())
            return (true, isFull && !address.isLogged, givenUp)
        }
        if isNews {
            logger.warning(
                "An address has too many connections; idle ones are closed. A proxy belongs in trusted-proxies; see max-connections-per-address.",
                metadata: ["address": .string(peer), "most": .stringConvertible(most)])
        }
        givenUp?.close(promise: nil)
        guard isAdmitted else { return nil }
        let place = Place(address: key, id: id)
        channel.closeFuture.whenComplete { [self] _ in release(place) }
        return place
    }

    /// Records whether a connection waits for its client or for the server.
    func setWaiting(_ place: Place, forClient isForClient: Bool) {
        guard let key = place.address else { return }
        state.withLockedValue { state in
            // Optional chaining: a no-op for a connection that is being closed.
            let moment = isForClient ? state.nextMoment() : nil
            state.addresses[key]?.connections[place.id]?.waitsSince = moment
        }
    }

    private func release(_ place: Place) {
        guard let key = place.address else { return }
        state.withLockedValue { state in
            state.addresses[key]?.connections[place.id] = nil
            state.addresses[key]?.closing.remove(place.id)
            if state.addresses[key]?.isEmpty == true { state.addresses[key] = nil }
        }
    }
}

extension HeldPolls.Limits {
    /// Derives the limits of held polls, each of which occupies a connection. Polls get at most nine tenths of all connections, and half
    /// of the connections of one address, because the phone that approves needs a connection too.
    init(_ limits: AuthorizationServer.Configuration.Limits) {
        self.init(total: min(10_000, limits.connections / 10 * 9), perAddress: limits.connectionsPerAddress / 2)
    }

    /// Whether any poll can be held.
    var admitAny: Bool { total > 0 && perAddress > 0 }
}
