internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import NIOConcurrencyHelpers
internal import ServerHTTP
internal import ServiceLifecycle

/// The streams of server-sent events that pages listen to while a person answers on a device.
///
/// Each looks once a second, which costs one read, and ends after a minute at the latest: the browser then opens another by itself.
/// Where there are too many, a page asks now and then instead. Safe from any task.
final class LiveWaiting: Sendable {
    /// The most streams of the whole server.
    static let most = 2_000
    /// The most of one sign-in: a page that was reloaded may not have let go of its stream yet.
    static let mostOfOne = 4
    /// Seconds after which a stream ends.
    static let longest: TimeInterval = 55

    private struct Open: Sendable {
        var total = 0
        var byToken: [String: Int] = [:]
    }

    private let open = NIOLockedValueBox(Open())
    private let clock: any WallClock

    init(clock: any WallClock) { self.clock = clock }

    /// How many streams are open.
    var count: Int { open.withLockedValue { $0.total } }

    /// A place for a stream, given back when nobody holds it any more.
    final class Seat: Sendable {
        private let giveBack: @Sendable () -> Void
        fileprivate init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
        deinit { giveBack() }
    }

    /// Takes a place.
    ///
    /// - Parameter token: What names the sign-in.
    /// - Returns: Nil if there are too many.
    func seat(of token: String) -> Seat? {
        let isFree = open.withLockedValue { open in
            guard open.total < Self.most, open.byToken[token, default: 0] < Self.mostOfOne else { return false }
            open.total += 1
            open.byToken[token, default: 0] += 1
            return true
        }
        guard isFree else { return nil }
        return Seat { [open] in
            open.withLockedValue { open in
                open.total -= 1
                let left = open.byToken[token, default: 1] - 1
                open.byToken[token] = left > 0 ? left : nil
            }
        }
    }

    /// The answer that tells a page when to go on.
    ///
    /// - Parameters:
    ///   - seat: Its place, held until the answer is sent or given up.
    ///   - isWaiting: Whether there is still something to wait for.
    /// - Returns: Server-sent events: `answered` at most, and comments, by which is noticed that the browser is gone.
    func stream(_ seat: Seat, while isWaiting: @escaping @Sendable (Date) async throws -> Bool) -> ServerResponse {
        var response = ServerResponse(status: .ok, headers: [.contentType: "text/event-stream"])
        response.headers[.xAccelBuffering] = "no"
        response.stream = { [clock, seat] send in
            defer { withExtendedLifetime(seat) {} }
            let end = clock.now.addingTimeInterval(Self.longest)
            try await send(Array("retry: 2000\n\n".utf8))
            while clock.now < end, !Task.isShuttingDownGracefully {
                guard try await isWaiting(clock.now) else {
                    try await send(Array("event: answered\ndata: 1\n\n".utf8))
                    return
                }
                try await clock.sleep(for: .seconds(1))
                try await send(Array(":\n\n".utf8))
            }
        }
        return response.uncached()
    }
}

extension Endpoint {
    /// What a page asks while a person answers on a device: events for who wants a stream, else whether to wait on.
    static func events(of token: String, _ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "signin/events", methods: [.get], isCrossOrigin: false) { call in
            let request = call.request
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            let browser = pages.cookies(for: call).read(request, signIn: token)
            let isWaiting: @Sendable (Date) async throws -> Bool = { now in
                var context = request.context
                context.now = now
                return try await engine.isAnswerAwaited(of: token, browser: browser, context: context)
            }
            let isNow = try await isWaiting(request.context.now)
            guard request.head.headerFields[.accept]?.contains("text/event-stream") == true else {
                return ServerResponse(json: Array(#"{"waiting":\#(isNow)}"#.utf8)).uncached()
            }
            guard let seat = pages.live.seat(of: token) else { return ServerResponse(status: .serviceUnavailable).uncached() }
            return pages.live.stream(seat, while: isWaiting)
        }
    }
}
