internal import DeviceAuthenticator
internal import Foundation

/// What a phone shows: the requests that wait, and those that are over. A value; whoever holds it sees to the order of changes.
///
/// A request is shown once, however often it is delivered; it is answered by one at a time.
struct PhoneInbox: Sendable {
    /// A request that somebody has taken to answer it.
    struct Taken: Sendable {
        let request: VirtualPhone.Request
        let challenge: PushChallenge
    }

    private struct Entry: Sendable {
        let request: VirtualPhone.Request
        let challenge: PushChallenge
        var isTaken = false
    }

    /// The most requests that are remembered after their end.
    private static let memory = 200

    private var entries: [Entry] = []
    private(set) var history: [VirtualPhone.HistoryEntry] = []
    /// Requests of the phone's own sign-ins that are over: never shown, and not to be shown when they are delivered again.
    private var ownRequests: [String] = []
    /// Which requests are not shown, while the phone itself signs in.
    private var hidden: Hidden?

    /// What the requests of the phone's own sign-in are told by: the client that it is, which the organization has signed, and that they
    /// come now.
    private struct Hidden: Sendable {
        let clientID: String
        /// What came before, for the same client or not.
        let earlier: Set<String>
    }

    /// The requests that wait for the person, oldest first.
    var requests: [VirtualPhone.Request] {
        entries.filter { !$0.isTaken && !isHidden($0) }.map(\.request)
    }

    private func isHidden(_ entry: Entry) -> Bool {
        guard let hidden else { return false }
        return entry.challenge.clientID == hidden.clientID && !hidden.earlier.contains(entry.request.id)
    }

    /// The phone itself is about to sign in.
    mutating func hideOwn(of clientID: String) {
        hidden = Hidden(clientID: clientID, earlier: Set(entries.map(\.request.id)))
    }

    /// The phone's own sign-in is over.
    mutating func showAll() {
        hidden = nil
    }

    // MARK: - Arriving

    /// Takes a challenge in.
    ///
    /// - Parameters:
    ///   - challenge: The challenge, verified.
    ///   - isListed: Whether the server says that it still waits: then one whose answer failed is shown again.
    ///   - now: The time.
    /// - Returns: Whether it is new here.
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

    // MARK: - Answering

    /// Takes a request that waits, so that nobody else answers it meanwhile.
    ///
    /// - Parameter isWanted: Which; the oldest of them is taken.
    /// - Returns: The request; nil if there is none.
    mutating func take(where isWanted: (VirtualPhone.Request) -> Bool) -> Taken? {
        guard let index = entries.firstIndex(where: { !$0.isTaken && !isHidden($0) && isWanted($0.request) }) else { return nil }
        return take(at: index)
    }

    /// Takes the request of the phone's own sign-in.
    ///
    /// - Returns: The request; nil if none has come. If somebody else signs in to the same client just now, nil too, and all are shown: it is
    ///   for the person to say which is whose.
    mutating func takeOwn() -> Taken? {
        let own = entries.indices.filter { !entries[$0].isTaken && isHidden(entries[$0]) }
        guard let index = own.first else { return nil }
        guard own.count == 1 else {
            hidden = nil
            return nil
        }
        return take(at: index)
    }

    private mutating func take(at index: Int) -> Taken {
        entries[index].isTaken = true
        return Taken(request: entries[index].request, challenge: entries[index].challenge)
    }

    /// Puts a request back that was not answered.
    mutating func putBack(_ id: String) {
        guard let index = entries.firstIndex(where: { $0.request.id == id }) else { return }
        entries[index].isTaken = false
    }

    /// Ends a request of the phone's own sign-in.
    mutating func forgetOwn(_ id: String) {
        entries.removeAll { $0.request.id == id }
        ownRequests = ownRequests.suffix(Self.memory - 1) + [id]
    }

    // MARK: - Ending

    /// Notes how a request ended.
    mutating func end(_ id: String, _ outcome: VirtualPhone.HistoryEntry.Outcome, at time: Date) {
        guard let index = entries.firstIndex(where: { $0.request.id == id }) else { return }
        let entry = entries.remove(at: index)
        history.append(VirtualPhone.HistoryEntry(request: entry.request, outcome: outcome, at: time))
        if history.count > Self.memory { history.removeFirst(history.count - Self.memory) }
    }

    /// Ends the requests whose time is over.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    mutating func expire(now: Date) -> Bool {
        let over = entries.filter { !$0.isTaken && $0.request.expiresAt <= now }
        for entry in over { end(entry.request.id, .expired, at: now) }
        return !over.isEmpty
    }

    /// The ids of what waits, so that a list that the server gives afterwards can be held against them.
    var waitingIDs: Set<String> { Set(entries.filter { !$0.isTaken }.map(\.request.id)) }

    /// Ends requests that the server does not list any more.
    ///
    /// - Parameters:
    ///   - known: What waited before the server was asked; what came since may be missing in its list.
    ///   - listed: What the server says still waits.
    ///   - now: The time.
    mutating func withdraw(_ known: Set<String>, except listed: Set<String>, now: Date) {
        for entry in entries where !entry.isTaken && known.contains(entry.request.id) && !listed.contains(entry.request.id) {
            end(entry.request.id, .cancelled, at: now)
        }
    }

    /// Forgets what waits, as a phone does that was switched off.
    mutating func forgetWaiting() {
        entries.removeAll()
    }
}
