import Dispatch
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Work that the system should not suspend")
struct BackgroundActivityTests {
    @Test("A thread of the system waits until the work ends, and not longer if the work ended before")
    func end() async {
        let end = ActivityEnd()
        let waits = Gate()
        let released = Gate()
        DispatchQueue.global().async {
            waits.open()
            end.wait()
            released.open()
        }
        await waits.wait()
        end.reach()
        await released.wait()
        // A second call of the system, after the end, returns at once.
        end.reach()
        end.wait()
    }

    @Test("The work's result and error are those of the caller")
    func result() async {
        #expect(await BackgroundActivity.run("Test") { 7 } == 7)
        await #expect(throws: CancellationError.self) { try await BackgroundActivity.run("Test") { throw CancellationError() } }
    }
}
