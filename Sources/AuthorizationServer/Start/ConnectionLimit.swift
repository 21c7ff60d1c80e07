internal import Logging
internal import NIOConcurrencyHelpers

/// How many connections each address has open; all of an IPv6 /64 are one address. Safe from any thread.
final class ConnectionLimit: Sendable {
    private struct Count {
        var open = 0
        /// Whether a refusal was logged since the address was last below its limit.
        var isLogged = false
    }

    private let most: Int
    private let proxies: [TrustedNetwork]
    private let counts = NIOLockedValueBox<[[UInt8]: Count]>([:])

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - most: The most connections of one address.
    ///   - proxies: The peers that are not limited: they bring the connections of many clients.
    init(most: Int, except proxies: [TrustedNetwork]) {
        self.most = most
        self.proxies = proxies
    }

    /// A connection that is counted until it is released, or given up.
    struct Place: Sendable {
        fileprivate let key: [UInt8]?
    }

    /// Counts a connection.
    ///
    /// - Parameters:
    ///   - address: The peer's address; nil for a peer that has none, which is not limited.
    ///   - logger: Told once when an address exceeds its limit.
    /// - Returns: What to release when the connection is closed; nil if the address has too many.
    func admit(_ address: String?, logger: Logger) -> Place? {
        guard let address, let bytes = IPAddress.bytes(of: address), !proxies.contains(where: { $0.contains(address) }) else {
            return Place(key: nil)
        }
        let key = bytes.count == 16 ? Array(bytes[..<8]) : bytes
        let (isAdmitted, isNews) = counts.withLockedValue { counts in
            var count = counts[key] ?? Count()
            guard count.open >= most else {
                count = Count(open: count.open + 1, isLogged: false)
                counts[key] = count
                return (true, false)
            }
            defer { counts[key] = Count(open: count.open, isLogged: true) }
            return (false, !count.isLogged)
        }
        if isNews {
            logger.warning(
                "An address has too many connections; more are closed. A proxy belongs in trusted-proxies; see max-connections-per-address.",
                metadata: ["address": .string(address), "most": .stringConvertible(most)])
        }
        return isAdmitted ? Place(key: key) : nil
    }

    /// Counts a connection no more.
    func release(_ place: Place) {
        guard let key = place.key else { return }
        counts.withLockedValue { counts in
            guard var count = counts[key] else { return }
            count.open -= 1
            counts[key] = count.open > 0 ? count : nil
        }
    }
}
