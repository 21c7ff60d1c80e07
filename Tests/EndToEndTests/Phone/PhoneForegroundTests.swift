import AuthFoundation
import Foundation
import Testing

@testable import CountersignSandbox

@Suite("The phone page in several tabs", .timeLimit(.minutes(1)))
struct PhoneForegroundTests {
    /// An app in the foreground. It polls until the test stops it.
    private struct Viewer {
        let signals: AsyncStream<Void>
        let stay: AsyncStream<Never>.Continuation
        let task: Task<Void, Never>

        init(of foreground: PhoneForeground) async {
            let (signals, signal) = AsyncStream.makeStream(of: Void.self)
            let (staying, stay) = AsyncStream.makeStream(of: Never.self)
            (self.signals, self.stay) = (signals, stay)
            let (entrances, entrance) = AsyncStream.makeStream(of: Void.self)
            task = Task {
                await foreground.withViewer(signal) {
                    entrance.yield()
                    for await _ in staying {}
                }
            }
            for await _ in entrances { break }
        }

        func isTold() async {
            for await _ in signals { return }
        }

        func leave() async {
            stay.finish()
            await task.value
        }
    }

    @Test("The sandbox's phone page polls once for any number of open tabs, and does not poll if no tab is open")
    func tabs() async throws {
        let clock = SteppedClock(SandboxClock(.standing))
        let looks = Locked(0)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let foreground = PhoneForeground(
            pause: {
                do {
                    try await clock.sleep(for: 2)
                } catch {
                    cancel.yield()
                    throw error
                }
            }, look: { looks.withLock { $0 += 1 } })
        let first = await Viewer(of: foreground)
        let second = await Viewer(of: foreground)
        clock.pass(try await clock.nextWait())
        await first.isTold()
        await second.isTold()
        #expect(looks.withLock { $0 } == 1)
        await first.leave()
        clock.pass(try await clock.nextWait())
        await second.isTold()
        #expect(looks.withLock { $0 } == 2)
        await second.leave()
        for await _ in cancelled { break }
        #expect(looks.withLock { $0 } == 2)
    }
}
