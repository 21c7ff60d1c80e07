internal import Foundation
internal import HTTPTypes
internal import ServerHTTP

/// The duration for which one request may be held, and the table that holds it.
package struct PollHold: Sendable {
    /// The maximum time that a request is held, in seconds. CIBA Core 1.0 section 7.3 recommends an answer within 30 seconds.
    static let longest = 25
    /// The maximum time that a request without `Prefer: wait` is held, in seconds.
    static let longestUnasked = 5

    /// The maximum body size of a held request, in bytes.
    static let largestBody = 8 << 10

    let polls: HeldPolls
    /// The maximum wait in seconds; at least 1.
    let seconds: Int
    /// The preference of the client that was applied (RFC 7240 section 3); `nil` if the request has none.
    let appliedPreference: String?
    /// Observes whether the client closes the connection; `nil` if the connection cannot be observed.
    let observeClose: ServerRequest.CloseObserver?

    /// Reads the preference of a request; `nil` for `Prefer: wait=0` and for a large request.
    init?(_ request: ServerRequest, in polls: HeldPolls) {
        let preferred = WaitPreference.seconds(in: request.head.headerFields)
        // The request stays in memory while it is held.
        guard preferred != 0, request.body.count <= Self.largestBody else { return nil }
        let seconds = min(preferred ?? Self.longestUnasked, Self.longest)
        appliedPreference = preferred.map { _ in "wait=\(seconds)" }
        (self.polls, self.seconds, observeClose) = (polls, seconds, request.observeClose)
    }

    /// Takes a place, and frees it if the client closes the connection. Returns `nil` if no place is free.
    func place(for awaited: AwaitedDecision, address: String?) -> HeldPolls.Place? {
        guard let place = polls.place(for: awaited, address: address) else { return nil }
        observeClose?({ [polls] in polls.leave(place) })
        return place
    }

    func leave(_ place: HeldPolls.Place) {
        observeClose?(nil)
        polls.leave(place)
    }
}

/// The time that a client is prepared to wait for an answer (`Prefer: wait`, RFC 7240 section 4.3).
enum WaitPreference {
    /// Returns the seconds that a request names; `nil` for none. If the preference is repeated, the first one counts (RFC 7240 section 2).
    static func seconds(in headers: HTTPFields) -> Int? {
        for preference in headers[values: .prefer].flatMap({ $0.split(separator: ",") }) {
            let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.first?.lowercased() == "wait" else { continue }
            guard let digits = parts.last?.trimmingCharacters(in: ["\""]), !digits.isEmpty,
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return Int(digits) ?? .max
        }
        return nil
    }
}
