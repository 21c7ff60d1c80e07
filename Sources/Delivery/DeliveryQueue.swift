/// Holds what is to be sent until it can be, in lanes: so many wait and so many are on their way in each, so that trouble with one leaves
/// the others alone. What pushes, messages and logouts have in common; what comes of an item is for whom it is made.
///
/// `Sendable`; safe from any thread or task.
final class DeliveryQueue<Lane: Hashable & Sendable, Item: Sendable>: Sendable {
    /// What is done with an item.
    typealias Handler = @Sendable (Item) async -> Void

    private struct Line: Sendable {
        let items: AsyncStream<Item>
        let entrance: AsyncStream<Item>.Continuation
    }

    private let concurrency: Int
    private let drainTime: Duration
    private let timing: PushTiming
    private let lines: [Lane: Line]
    /// Ends at the shutdown.
    private let running: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    /// Makes a queue. Items can be submitted at once, and are sent when it runs.
    ///
    /// - Parameters:
    ///   - lanes: All that there are.
    ///   - capacity: The most that wait, in each lane, at least 1.
    ///   - concurrency: The most on their way at once, in each lane, at least 1.
    ///   - drainTime: How long they may go on after ``shutdown()``.
    ///   - timing: The clock of the drain time.
    init(lanes: [Lane], capacity: Int, concurrency: Int, drainTime: Duration, timing: PushTiming) {
        self.concurrency = max(concurrency, 1)
        self.drainTime = drainTime
        self.timing = timing
        lines = Dictionary(
            uniqueKeysWithValues: lanes.map { lane in
                let (items, entrance) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(max(capacity, 1)))
                return (lane, Line(items: items, entrance: entrance))
            })
        (running, end) = AsyncStream.makeStream(of: Never.self)
    }

    /// Takes an item. Never waits: what is full is full.
    ///
    /// - Parameters:
    ///   - item: What to send.
    ///   - lane: One of the lanes that it was made with.
    /// - Returns: Whether it was taken.
    func submit(_ item: Item, to lane: Lane) -> Bool {
        if case .enqueued? = lines[lane]?.entrance.yield(item) { true } else { false }
    }

    /// Sends what is submitted, until the queue is shut down and empty, the drain time is over, or the task is cancelled. Call it once.
    ///
    /// At the end of the drain time, and when it is cancelled, what is on its way is cancelled, and what was not yet tried is dropped.
    ///
    /// - Parameters:
    ///   - send: Sends an item.
    ///   - drop: Is given what is not sent any more.
    func run(send: @escaping Handler, drop: @escaping Handler) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendAll(send, drop) }
            group.addTask {
                for await _ in self.running {}
                // Cancelled, it is over just the same.
                try? await self.timing.sleep(self.drainTime)
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Takes no more, and lets ``run(send:drop:)`` return when it has sent what it has. Returns at once; safe to call again.
    func shutdown() {
        for line in lines.values { line.entrance.finish() }
        end.finish()
    }

    private func sendAll(_ send: @escaping Handler, _ drop: @escaping Handler) async {
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                for line in lines.values { group.addTask { await self.sendAll(of: line, send, drop) } }
            }
        } onCancel: {
            shutdown()
        }
    }

    private func sendAll(of line: Line, _ send: @escaping Handler, _ drop: @escaping Handler) async {
        await withTaskGroup(of: Void.self) { group in
            var waiting = line.items.makeAsyncIterator()
            var onTheirWay = 0
            while true {
                if onTheirWay == concurrency {
                    await group.next()
                    onTheirWay -= 1
                }
                // The stream gives what it holds even after its end, and to a cancelled task.
                guard let item = await waiting.next() else { return }
                if Task.isCancelled {
                    await drop(item)
                } else {
                    group.addTask { await send(item) }
                    onTheirWay += 1
                }
            }
        }
    }
}
