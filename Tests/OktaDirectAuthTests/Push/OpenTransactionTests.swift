import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("What the server keeps open")
struct OpenTransactionTests {
    private let clock = ManualClock()
    private let told = Locked<[String]>([])
    private let transaction: OpenTransaction

    init() {
        transaction = OpenTransaction(clock: clock) { [told] name in told.withLock { $0.append(name) } }
    }

    private var names: [String] { told.withLock { $0 } }

    @Test("is told of once when it is given up")
    func once() {
        transaction.opened("mfa-1")
        #expect(names.isEmpty)
        transaction.abandon()
        transaction.abandon()
        transaction.opened("mfa-1")
        #expect(names == ["mfa-1"])
    }

    @Test("is not told of before it was opened, nor after it has ended")
    func ended() {
        transaction.abandon()
        #expect(names.isEmpty)
        let other = OpenTransaction(clock: clock) { [told] name in told.withLock { $0.append(name) } }
        other.opened("mfa-1")
        other.closed()
        other.abandon()
        #expect(names.isEmpty)
    }

    @Test("is not told of after it has expired, and is until then", arguments: [(59.0, ["oob-1"]), (60.0, [])])
    func expired(after time: TimeInterval, names: [String]) {
        transaction.opened("oob-1", until: clock.now.addingTimeInterval(60))
        clock.advance(by: time)
        transaction.abandon()
        #expect(self.names == names)
    }

    @Test("is known by its newest name")
    func renamed() {
        transaction.opened("oob-1", isAnother: true)
        transaction.opened("mfa-1")
        transaction.opened("mfa-2")
        transaction.abandon()
        #expect(names == ["mfa-2"])
    }

    @Test("is told of when another is opened in its place")
    func replaced() {
        transaction.opened("oob-1", isAnother: true)
        transaction.opened("oob-1", isAnother: true)
        #expect(names.isEmpty)
        transaction.opened("oob-2", isAnother: true)
        #expect(names == ["oob-1"])
        transaction.abandon()
        #expect(names == ["oob-1", "oob-2"])
    }

    @Test("is told of at once when it comes to light after all was given up")
    func late() {
        transaction.opened("mfa-1")
        transaction.abandon()
        transaction.opened("mfa-2")
        transaction.opened("oob-1", isAnother: true)
        #expect(names == ["mfa-1", "mfa-2", "oob-1"])
    }

    @Test("is told of again for a challenge that was started after one that expired")
    func reopened() {
        transaction.opened("mfa-1", until: clock.now)
        transaction.closed()
        transaction.opened("mfa-1", until: clock.now.addingTimeInterval(60))
        transaction.abandon()
        #expect(names == ["mfa-1"])
    }

    @Test("shows no name in a dump")
    func hidden() {
        transaction.opened("mfa-1")
        var dumped = ""
        dump(transaction, to: &dumped)
        #expect(!dumped.contains("mfa-1"))
    }
}
