internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import NIOConcurrencyHelpers
internal import ServerHTTP
internal import ServiceLifecycle

/// The server-sent event streams of pages that wait for the user's action on a phone or in a mail. A stream reads the store once a second.
/// It ends after ``longest`` seconds; the browser then opens a new one. Over the limits, pages poll instead. Thread-safe.
final class LiveWaiting: Sendable {
    /// The maximum number of streams of the server.
    static let most = 2_000
    /// The maximum number of streams of one sign-in. It is more than one, because the old stream of a reloaded page may still be open.
    static let mostOfOne = 4
    /// The maximum duration of a stream, in seconds.
    static let longest: TimeInterval = 55

    private struct Open: Sendable {
        var total = 0
        var byToken: [String: Int] = [:]
    }

    private let open = NIOLockedValueBox(Open())
    private let clock: any WallClock

    init(clock: any WallClock) { self.clock = clock }

    var count: Int { open.withLockedValue { $0.total } }

    /// A place for a stream, freed when the object is deallocated.
    final class Seat: Sendable {
        private let giveBack: @Sendable () -> Void
        fileprivate init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
        deinit { giveBack() }
    }

    /// Takes a place; `nil` if a limit is reached. `token` names the sign-in.
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

    /// Returns the stream that tells a page to continue. It sends at most one event, `answered`. Its comments detect that the browser has
    /// disconnected. The place is held until the response ends.
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
    /// Creates the endpoint that a waiting page calls. It returns an event stream if the page accepts one, otherwise JSON that says whether
    /// the page must wait longer.
    static func events(_ engine: Engine, _ pages: PageWriter) -> Endpoint {
        Endpoint(page: .signInEvents, methods: [.get], engine, pages) { call in
            let request = call.request
            let token = call.parameter(0)
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
