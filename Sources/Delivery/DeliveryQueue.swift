internal import AsyncHTTPClient
internal import Metrics
internal import NIOCore
internal import NIOSSL

/// A queue of items to send, which the push, message and logout queues use. Each lane limits its waiting items and concurrent sends, so
/// that problems in one lane do not delay the others. Safe from any thread or task.
final class DeliveryQueue<Lane: Hashable & Sendable, Item: Sendable>: Sendable {
    typealias Handler = @Sendable (Item) async -> Void

    private struct Line: Sendable {
        let items: AsyncStream<Item>
        let entrance: AsyncStream<Item>.Continuation
    }

    private let concurrency: Int
    private let drainTime: Duration
    private let timing: PushTiming
    private let lines: [Lane: Line]
    /// A stream without elements that finishes at the shutdown.
    private let running: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    /// Creates a queue. Items can be submitted at once; they are sent while ``run(send:drop:)`` runs.
    /// - Parameters:
    ///   - lanes: All lanes.
    ///   - capacity: The maximum number of waiting items for each lane, at least 1.
    ///   - concurrency: The maximum number of concurrent sends for each lane, at least 1.
    ///   - drainTime: The maximum time for which sends continue after ``shutdown()``.
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

    /// Queues an item and returns at once. Returns `false` if the lane is full, unknown or shut down.
    func submit(_ item: Item, to lane: Lane) -> Bool {
        if case .enqueued? = lines[lane]?.entrance.yield(item) { true } else { false }
    }

    /// Sends items until the queue is shut down and empty, the drain time has passed, or the task is cancelled. Call it once. When the
    /// drain time has passed or the task is cancelled, sends in progress are cancelled and the remaining items go to `drop`.
    func run(send: @escaping Handler, drop: @escaping Handler) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendAll(send, drop) }
            group.addTask {
                for await _ in self.running {}
                // Cancellation also ends the drain time.
                try? await self.timing.sleep(self.drainTime)
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Stops accepting items, and returns at once. ``run(send:drop:)`` returns after the remaining items, or after the drain time.
    /// Idempotent.
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
                // The stream still yields buffered items after it finished and in a cancelled task.
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

/// Counts outcomes by lane. No label identifies a device, an app or a user.
struct OutcomeCounters: Sendable {
    /// The counters by lane and outcome.
    private let counters: [[String]: Counter]

    /// Creates every counter, so that each one is exported with the value 0. `lane` is the name of the label for the lane.
    init(_ label: String, lane: String, lanes: [String], outcomes: [String], factory: any MetricsFactory) {
        let keys = lanes.flatMap { lane in outcomes.map { [lane, $0] } }
        counters = Dictionary(
            uniqueKeysWithValues: keys.map { key in
                let dimensions = [(lane, key[0]), ("outcome", key[1].replacing(" ", with: "_"))]
                return (key, Counter(label: label, dimensions: dimensions, factory: factory))
            })
    }

    func count(_ outcome: String, in lane: String) { counters[[lane, outcome]]?.increment() }
}

extension HTTPClient {
    /// Creates a client for requests with secrets. It follows no redirects, makes no retries, and creates no trace spans, which would
    /// contain addresses.
    static func discreet(tls: TLSConfiguration? = nil, connect: TimeAmount, read: TimeAmount) -> HTTPClient {
        var configuration = Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: connect, read: read),
            connectionPool: .init(idleTimeout: .seconds(30)))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tracing.tracer = nil
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
