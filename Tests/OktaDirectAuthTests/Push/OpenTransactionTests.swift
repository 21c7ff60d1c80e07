import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("Open transactions at the server")
struct OpenTransactionTests {
    private let clock = ManualClock()
    private let told = Locked<[String]>([])
    private let transaction: OpenTransaction

    init() {
        transaction = OpenTransaction(clock: clock) { [told] name in told.withLock { $0.append(name) } }
    }

    private var names: [String] { told.withLock { $0 } }

    @Test("A transaction that is cancelled repeatedly is revoked once")
    func once() {
        transaction.opened("mfa-1")
        #expect(names.isEmpty)
        transaction.abandon()
        transaction.abandon()
        transaction.opened("mfa-1")
        #expect(names == ["mfa-1"])
    }

    @Test("A transaction is not revoked before its start or after its end")
    func ended() {
        transaction.abandon()
        #expect(names.isEmpty)
        let other = OpenTransaction(clock: clock) { [told] name in told.withLock { $0.append(name) } }
        other.opened("mfa-1")
        other.closed()
        other.abandon()
        #expect(names.isEmpty)
    }

    @Test("A transaction is revoked only if it is cancelled before its expiry", arguments: [(59.0, ["oob-1"]), (60.0, [])])
    func expired(after time: TimeInterval, names: [String]) {
        transaction.opened("oob-1", until: clock.now.addingTimeInterval(60))
        clock.advance(by: time)
        transaction.abandon()
        #expect(self.names == names)
    }

    @Test("Cancelling a transaction revokes its newest token")
    func renamed() {
        transaction.opened("oob-1", isAnother: true)
        transaction.opened("mfa-1")
        transaction.opened("mfa-2")
        transaction.abandon()
        #expect(names == ["mfa-2"])
    }

    @Test("A transaction is revoked when another transaction replaces it")
    func replaced() {
        transaction.opened("oob-1", isAnother: true)
        transaction.opened("oob-1", isAnother: true)
        #expect(names.isEmpty)
        transaction.opened("oob-2", isAnother: true)
        #expect(names == ["oob-1"])
        transaction.abandon()
        #expect(names == ["oob-1", "oob-2"])
    }

    @Test("A transaction that starts after the cancellation is revoked immediately")
    func late() {
        transaction.opened("mfa-1")
        transaction.abandon()
        transaction.opened("mfa-2")
        transaction.opened("oob-1", isAnother: true)
        #expect(names == ["mfa-1", "mfa-2", "oob-1"])
    }

    @Test("If a transaction is opened again after its challenge expired, cancelling the transaction revokes its token")
    func reopened() {
        transaction.opened("mfa-1", until: clock.now)
        transaction.closed()
        transaction.opened("mfa-1", until: clock.now.addingTimeInterval(60))
        transaction.abandon()
        #expect(names == ["mfa-1"])
    }

    @Test("A dump of an open transaction contains no token")
    func hidden() {
        transaction.opened("mfa-1")
        var dumped = ""
        dump(transaction, to: &dumped)
        #expect(!dumped.contains("mfa-1"))
    }
}
