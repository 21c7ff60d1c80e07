internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import OAuthEndpoints
internal import ServerHTTP

/// The open connections of each address; all of an IPv6 /64 are one address. Safe from any thread.
///
/// An address at its limit gives up the connection that waits longest for its client, so that silent connections do not keep its other users
/// out. A connection whose request is complete waits for the server, and is never given up, unless it reads an event stream.
///
/// A connection that is given up counts until it is closed: TLS waits for its client's answer. At twice the limit, an address gets no other.
final class ConnectionLimit: Sendable {
    private struct Open {
        let channel: any Channel
        /// When it began to wait for its client, as a number that grows; `nil` while it waits for the server.
        var waitsSince: Int?
    }

    private struct Address {
        var connections: [ObjectIdentifier: Open] = [:]
        /// The connections that were given up and are not closed yet.
        var closing: Set<ObjectIdentifier> = []
        /// Whether the limit was logged since the address was last below it.
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

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - most: The maximum number of connections per address.
    ///   - proxies: The peers without a limit, because each forwards the connections of many clients.
    init(most: Int, except proxies: [TrustedNetwork]) {
        self.most = most
        self.proxies = proxies
    }

    /// An admitted connection.
    struct Place: Sendable {
        /// `nil` for a peer that is not limited.
        fileprivate let address: [UInt8]?
        fileprivate let id: ObjectIdentifier
    }

    /// Admits a connection, which waits for its client at first. It is released when it is closed.
    ///
    /// - Parameters:
    ///   - channel: The connection. A peer without an address is not limited.
    ///   - logger: Told once when an address reaches its limit.
    /// - Returns: The connection's place; `nil` if the address has too many, none of which can be given up.
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

    /// Notes whom a connection waits for: its client, or the server.
    func setWaiting(_ place: Place, forClient isForClient: Bool) {
        guard let key = place.address else { return }
        state.withLockedValue { state in
            // Subscripts of optionals: a connection that was given up meanwhile stays so.
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
    /// The limits of a server. A held poll occupies a connection, so polls get nine tenths of all connections at most, and half of those of
    /// one address: the phone that approves needs one too.
    init(_ limits: AuthorizationServer.Configuration.Limits) {
        self.init(total: min(10_000, limits.connections / 10 * 9), perAddress: limits.connectionsPerAddress / 2)
    }

    /// Whether a poll can be held at all.
    var admitAny: Bool { total > 0 && perAddress > 0 }
}
