internal import HTTPTypes
internal import NIOConcurrencyHelpers

/// The requests that the sandbox got, in the order in which they were answered; the oldest go when there are too many.
final class RequestLog: Sendable {
    private static let capacity = 10_000
    private let requests = NIOLockedValueBox<[LoggedRequest]>([])

    var all: [LoggedRequest] { requests.withLockedValue { $0 } }

    func clear() {
        requests.withLockedValue { $0 = [] }
    }

    func append(_ request: LoggedRequest) {
        requests.withLockedValue { requests in
            if requests.count >= Self.capacity { requests.removeFirst(Self.capacity / 10) }
            requests.append(request)
        }
    }
}
