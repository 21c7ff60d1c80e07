/// A caller's place in a `FairQueue`. Requests from one origin share a place, so that a flood from one origin delays only that origin.
package struct HashingShare: Sendable, Hashable {
    /// The origin of the requests; `nil` for the server's own work.
    let origin: String?
    /// Whether the user has signed in from the origin before, an authenticated back end sends the request, or the work is the server's own.
    let isKnown: Bool

    /// The share of work that no unauthenticated request can cause.
    package static let server = HashingShare(origin: nil, isKnown: true)

    init(origin: String?, isKnown: Bool) { (self.origin, self.isKnown) = (origin, isKnown) }

    /// Creates the place of a request that checks a user's password.
    init(_ origin: RequestOrigin, of user: User?) {
        let isKnown = user?.knows(origin) ?? false
        // A back end is authenticated, so an attacker cannot take turns from its users.
        if !isKnown, let backEnd = origin.backEnd {
            self.init(origin: "a" + backEnd, isKnown: true)
            return
        }
        // A known device has its own place. An unknown device shares the place of its network, because an attacker can invent devices.
        let ids = origin.ids
        let own = isKnown ? ids.first { id in user?.usedOrigins?.contains { $0.id == id } == true } : nil
        self.init(origin: own ?? origin.network ?? "", isKnown: isKnown)
    }
}

/// A bounded queue that serves its callers in turn. Half of the turns belong to known origins, the other half to unknown origins. Within
/// each half, origins take turns. If the queue is full, an origin with fewer waiting elements displaces the newest element of the origin
/// with the most elements. Known origins displace unknown origins until known origins have half of the places. Not thread-safe: the
/// owner must hold a lock.
struct FairQueue<Element> {
    /// The waiting elements of one origin, the oldest first.
    private typealias Line = [(id: Int, element: Element)]

    /// The waiting elements of several origins, which take turns.
    private struct Ring {
        var turns: [HashingShare] = []
        var lines: [HashingShare: Line] = [:]

        /// The longest line; of several with the same length, the line whose last element is the newest.
        var longest: Line? { lines.values.max { ($0.count, $0.last?.id ?? 0) < ($1.count, $1.last?.id ?? 0) } }
        var count: Int { lines.values.reduce(0) { $0 + $1.count } }

        mutating func append(_ entry: (id: Int, element: Element), _ share: HashingShare) {
            if lines[share] == nil { turns.append(share) }
            lines[share, default: []].append(entry)
        }

        mutating func next() -> Element? {
            guard let share = turns.first, let entry = lines[share]?.first else { return nil }
            turns.removeFirst()
            lines[share]?.removeFirst()
            if lines[share]?.isEmpty == true { lines[share] = nil } else { turns.append(share) }
            return entry.element
        }

        mutating func remove(_ id: Int) -> Element? {
            for (share, line) in lines {
                guard let index = line.firstIndex(where: { $0.id == id }) else { continue }
                let entry = lines[share]?.remove(at: index)
                if lines[share]?.isEmpty == true {
                    lines[share] = nil
                    turns.removeAll { $0 == share }
                }
                return entry?.element
            }
            return nil
        }
    }

    private var known = Ring()
    private var others = Ring()
    private var isTurnOfOthers = false
    private var nextID = 0
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }

    /// Adds an element of an origin. Returns its id, and the displaced element, if any. Returns `nil` if the queue is full, no other origin
    /// has at least two more waiting elements, and no place is reserved for a known origin.
    mutating func append(_ element: Element, for share: HashingShare, limit: Int) -> (id: Int, displaced: Element?)? {
        var displaced: Element?
        if count >= limit {
            let own = (share.isKnown ? known : others).lines[share]?.count ?? 0
            // The other origin must have more elements than this one would have; otherwise the two origins would displace each other
            // endlessly.
            let longest = [others, known].compactMap(\.longest).max { $0.count < $1.count }.flatMap { $0.count > own + 1 ? $0 : nil }
            // Unknown origins, one element each, could otherwise fill all places.
            let reserved = share.isKnown && known.count < limit / 2 ? others.longest : nil
            guard let newest = (longest ?? reserved)?.last else { return nil }
            displaced = remove(newest.id)
        }
        let id = nextID
        nextID += 1
        count += 1
        if share.isKnown { known.append((id, element), share) } else { others.append((id, element), share) }
        return (id, displaced)
    }

    mutating func next() -> Element? {
        defer { isTurnOfOthers.toggle() }
        let element = isTurnOfOthers ? others.next() ?? known.next() : known.next() ?? others.next()
        if element != nil { count -= 1 }
        return element
    }

    /// Removes and returns the element with an id; `nil` if it is no longer waiting.
    mutating func remove(_ id: Int) -> Element? {
        let element = known.remove(id) ?? others.remove(id)
        if element != nil { count -= 1 }
        return element
    }

    mutating func removeAll() -> [Element] {
        let all = [known, others].flatMap { $0.lines.values.flatMap { $0.map(\.element) } }
        (known, others, count) = (Ring(), Ring(), 0)
        return all
    }
}
