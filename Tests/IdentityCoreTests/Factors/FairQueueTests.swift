import Testing

@testable import IdentityCore

@Suite("Fair queue for password hashing")
struct FairQueueTests {
    private static func share(_ origin: String, isKnown: Bool = false) -> HashingShare { HashingShare(origin: origin, isKnown: isKnown) }

    private static func drain(_ queue: inout FairQueue<String>) -> [String] {
        var order: [String] = []
        while let element = queue.next() { order.append(element) }
        return order
    }

    @Test("In the hashing queue, origins take turns, and the elements of each origin keep their order")
    func turns() {
        var queue = FairQueue<String>()
        for number in 1...3 { _ = queue.append("a\(number)", for: Self.share("a"), limit: 10) }
        for number in 1...2 { _ = queue.append("b\(number)", for: Self.share("b"), limit: 10) }
        _ = queue.append("c1", for: Self.share("c"), limit: 10)
        let order = Self.drain(&queue)
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.isEmpty)
    }

    @Test("Known origins get every second turn, regardless of the number of unknown origins")
    func knownOrigins() {
        var queue = FairQueue<String>()
        for number in 1...5 { _ = queue.append("x\(number)", for: Self.share("\(number)"), limit: 20) }
        for number in 1...2 { _ = queue.append("k\(number)", for: Self.share("home", isKnown: true), limit: 20) }
        let order = Self.drain(&queue)
        #expect(order == ["k1", "x1", "k2", "x2", "x3", "x4", "x5"])
    }

    @Test("A full hashing queue drops the newest element of the origin with the most elements, and rejects further elements of that origin")
    func full() {
        var queue = FairQueue<String>()
        for number in 1...4 { _ = queue.append("a\(number)", for: Self.share("a"), limit: 4) }
        let refused = queue.append("a5", for: Self.share("a"), limit: 4)
        #expect(refused == nil)
        let added = queue.append("b1", for: Self.share("b"), limit: 4)
        #expect(added?.displaced == "a4")
        // One origin has three elements, the other has one. After another exchange both have two, so no further exchange follows.
        let second = queue.append("b2", for: Self.share("b"), limit: 4)
        #expect(second?.displaced == "a3")
        let third = queue.append("b3", for: Self.share("b"), limit: 4)
        #expect(third == nil)
        #expect(queue.count == 4)
        let order = Self.drain(&queue)
        #expect(order == ["a1", "b1", "a2", "b2"])
    }

    @Test("A full hashing queue of unknown origins with one element each gives up to half of its places to known origins")
    func knownOriginsInFullQueue() {
        var queue = FairQueue<String>()
        for number in 1...4 { _ = queue.append("x\(number)", for: Self.share("\(number)"), limit: 4) }
        let stranger = queue.append("x5", for: Self.share("5"), limit: 4)
        #expect(stranger == nil)
        let first = queue.append("k1", for: Self.share("home", isKnown: true), limit: 4)
        #expect(first?.displaced == "x4")
        let second = queue.append("k2", for: Self.share("office", isKnown: true), limit: 4)
        #expect(second?.displaced == "x3")
        let third = queue.append("k3", for: Self.share("phone", isKnown: true), limit: 4)
        #expect(third == nil)
        #expect(queue.count == 4)
        let order = Self.drain(&queue)
        #expect(order == ["k1", "x1", "k2", "x2"])
    }

    @Test("A full hashing queue of known origins with one element each rejects another known origin")
    func knownOriginsOnly() {
        var queue = FairQueue<String>()
        for number in 1...4 { _ = queue.append("k\(number)", for: Self.share("\(number)", isKnown: true), limit: 4) }
        let refused = queue.append("k5", for: Self.share("5", isKnown: true), limit: 4)
        #expect(refused == nil)
        #expect(queue.count == 4)
    }

    @Test("After the only element of an origin is removed, the hashing queue continues with the next origin")
    func withdrawn() throws {
        var queue = FairQueue<String>()
        let added = queue.append("a1", for: Self.share("a"), limit: 4)
        let first = try #require(added)
        _ = queue.append("b1", for: Self.share("b"), limit: 4)
        let removed = queue.remove(first.id)
        let removedAgain = queue.remove(first.id)
        #expect(removed == "a1" && removedAgain == nil)
        #expect(queue.count == 1)
        let order = Self.drain(&queue)
        #expect(order == ["b1"])
    }
}
