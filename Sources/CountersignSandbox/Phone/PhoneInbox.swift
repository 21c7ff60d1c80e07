internal import DeviceAuthenticator
internal import Foundation

/// The pending and completed requests of a phone. A request is shown once, even if it is delivered repeatedly, and only one caller can
/// answer it at a time. A value type; the owner of the value synchronizes the changes.
struct PhoneInbox: Sendable {
    struct Entry: Sendable {
        let request: VirtualPhone.Request
        let challenge: PushChallenge
        /// Whether a caller has taken the request to answer it.
        fileprivate var isTaken = false
    }

    /// The maximum number of completed requests to remember.
    private static let memory = 200

    private var entries: [Entry] = []
    private(set) var history: [VirtualPhone.HistoryEntry] = []
    /// The IDs of completed requests of the phone's own sign-ins. They stay hidden if they are delivered again.
    private var ownRequests: [String] = []
    /// The rule for the requests to hide while the phone itself signs in; `nil` at other times.
    private var hidden: Hidden?

    /// The rule that identifies the requests of the phone's own sign-in: they are new and contain the client ID of the phone's app. The
    /// organization has signed the client ID.
    private struct Hidden: Sendable {
        let clientID: String
        /// The IDs of all requests from before the sign-in.
        let earlier: Set<String>
    }

    /// The pending requests, oldest first.
    var requests: [VirtualPhone.Request] {
        entries.filter { !$0.isTaken && !isHidden($0) }.map(\.request)
    }

    private func isHidden(_ entry: Entry) -> Bool {
        guard let hidden else { return false }
        return entry.challenge.clientID == hidden.clientID && !hidden.earlier.contains(entry.request.id)
    }

    /// Hides new requests for a client while the phone itself signs in.
    mutating func hideOwn(of clientID: String) {
        hidden = Hidden(clientID: clientID, earlier: Set(entries.map(\.request.id)))
    }

    /// Shows all requests after the phone's own sign-in.
    mutating func showAll() {
        hidden = nil
    }

    /// Adds a verified challenge. If the server lists it as pending (`isListed`), a request whose answer failed is shown again. Returns
    /// whether the request is new.
    @discardableResult
    mutating func admit(_ challenge: PushChallenge, isListed: Bool, now: Date) -> Bool {
        let request = VirtualPhone.Request(challenge)
        guard request.expiresAt > now, !entries.contains(where: { $0.request.id == request.id }), !ownRequests.contains(request.id)
        else { return false }
        if let index = history.firstIndex(where: { $0.request.id == request.id }) {
            guard isListed, case .failed = history[index].outcome else { return false }
            history.remove(at: index)
        }
        entries.append(Entry(request: request, challenge: challenge))
        return true
    }

    /// Takes the oldest pending request that matches, so that no other caller can answer it.
    mutating func take(where isWanted: (VirtualPhone.Request) -> Bool) -> Entry? {
        guard let index = entries.firstIndex(where: { !$0.isTaken && !isHidden($0) && isWanted($0.request) }) else { return nil }
        return take(at: index)
    }

    /// Takes the request of the phone's own sign-in; `nil` if it has not arrived. If several new requests match, the function takes none
    /// and shows all of them, because only the user can tell them apart.
    mutating func takeOwn() -> Entry? {
        let own = entries.indices.filter { !entries[$0].isTaken && isHidden(entries[$0]) }
        guard let index = own.first else { return nil }
        guard own.count == 1 else {
            hidden = nil
            return nil
        }
        return take(at: index)
    }

    private mutating func take(at index: Int) -> Entry {
        entries[index].isTaken = true
        return entries[index]
    }

    /// Makes a taken request pending again, after a failed answer.
    mutating func putBack(_ id: String) {
        guard let index = entries.firstIndex(where: { $0.request.id == id }) else { return }
        entries[index].isTaken = false
    }

    /// Removes a request of the phone's own sign-in and hides it from now on.
    mutating func forgetOwn(_ id: String) {
        entries.removeAll { $0.request.id == id }
        ownRequests = ownRequests.suffix(Self.memory - 1) + [id]
    }

    mutating func end(_ id: String, _ outcome: VirtualPhone.HistoryEntry.Outcome, at time: Date) {
        guard let index = entries.firstIndex(where: { $0.request.id == id }) else { return }
        let entry = entries.remove(at: index)
        history.append(VirtualPhone.HistoryEntry(request: entry.request, outcome: outcome, at: time))
        if history.count > Self.memory { history.removeFirst(history.count - Self.memory) }
    }

    /// Ends expired requests. Returns whether any request had expired.
    @discardableResult
    mutating func expire(now: Date) -> Bool {
        let over = entries.filter { !$0.isTaken && $0.request.expiresAt <= now }
        for entry in over { end(entry.request.id, .expired, at: now) }
        return !over.isEmpty
    }

    /// The IDs of pending requests, to compare with the server's next list.
    var waitingIDs: Set<String> { Set(entries.filter { !$0.isTaken }.map(\.request.id)) }

    /// Ends requests that the server no longer lists. `known` are the requests from before the server's response, because the response may
    /// lack later requests.
    mutating func withdraw(_ known: Set<String>, except listed: Set<String>, now: Date) {
        for entry in entries where !entry.isTaken && known.contains(entry.request.id) && !listed.contains(entry.request.id) {
            end(entry.request.id, .cancelled, at: now)
        }
    }

    /// Forgets the pending requests, as at a restart of the phone.
    mutating func forgetWaiting() {
        entries.removeAll()
    }
}
