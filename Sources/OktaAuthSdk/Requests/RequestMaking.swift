internal import AuthFoundation
internal import Dispatch
internal import Foundation

extension OktaAPI {
    /// The target of a request.
    enum Place {
        /// A path of the organization.
        case path(String)
        /// A link from the server.
        case link(LinksResponse.Link)
        case url(URL)
    }

    /// Creates a POST request without sending it. Members that are `nil` are omitted.
    func request(
        to place: Place, _ body: [String: Any?], _ completion: ((OktaAPIRequest.Result) -> Void)?
    ) -> OktaAPIRequest {
        let request = request(to: place) { completion?($0) }
        request.bodyParams = body.compactMapValues { $0 }
        return request
    }

    /// Creates a request without a body, and does not send it. Successful responses are not statuses.
    func dataRequest(
        to place: Place, _ onError: @escaping (OktaError) -> Void, _ onData: @escaping (OktaAPIRequest, Data) -> Void
    ) -> OktaAPIRequest {
        let request = request(to: place) { result in
            if case .error(let error) = result { onError(error) }
        }
        request.customSuccessHandler = { request, data, _, _ in onData(request, data ?? Data()) }
        return request
    }

    private func request(to place: Place, completion: @escaping (OktaAPIRequest.Result) -> Void) -> OktaAPIRequest {
        let (base, path): (URL, String?) =
            switch place {
            case .path(let path): (oktaDomain, path)
            case .link(let link): (link.href, nil)
            case .url(let url): (url, nil)
            }
        let request = OktaAPIRequest(baseURL: base, transport: transport) { [self] request, result in
            completion(result)
            commonCompletion?(request, result)
        }
        request.path = path
        if let deviceToken, isOwn(base) { request.additionalHeaders = ["Cookie": "DT=\(deviceToken)"] }
        return request
    }

    func run(_ request: OktaAPIRequest) -> OktaAPIRequest {
        request.run()
        return request
    }

    /// Whether a URL belongs to the organization. Only the organization receives the device token.
    private func isOwn(_ url: URL) -> Bool {
        url.scheme == oktaDomain.scheme && url.host() == oktaDomain.host() && url.port == oktaDomain.port
    }

    static func wishes(_ rememberDevice: Bool?, _ autoPush: Bool?) -> [String: String]? {
        var wishes: [String: String] = [:]
        wishes["rememberDevice"] = rememberDevice.map(String.init)
        wishes["autoPush"] = autoPush.map(String.init)
        return wishes.isEmpty ? nil : wishes
    }
}

/// The queue on which the app's closures are called.
enum MainQueue: Sendable {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Runs the work at once if the caller is on the main queue; otherwise enqueues it there.
    static func run(_ work: @escaping () -> Void) {
        if DispatchQueue.getSpecific(key: mark) == true { work() } else { runLater(work) }
    }

    /// Enqueues the work on the main queue.
    static func runLater(_ work: @escaping () -> Void) {
        let transfer = MainQueueTransfer(contents: work)
        DispatchQueue.main.async { transfer.contents() }
    }
}

/// A value that is not `Sendable` and is transferred to the main queue: a closure of the app, a status, a factor or a request.
/// `@unchecked Sendable` is safe because `contents` is constant and is used only on the main queue. An app that calls from another queue
/// must not use the object until the SDK calls back.
struct MainQueueTransfer<Contents>: @unchecked Sendable {
    let contents: Contents
}

extension MainQueue {
    /// Starts a call with closures and waits for its result.
    /// - Parameter start: Starts the call with the two closures. The first closure that is called decides. The wait also ends if both
    ///   closures are released uncalled, as after a cancelled transaction.
    /// - Throws: The error of the second closure; `CancellationError` if the task was cancelled or both closures were released.
    @MainActor
    static func value<Value>(
        _ start: (_ onValue: @escaping (Value) -> Void, _ onError: @escaping (OktaError) -> Void) -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let decision = Decision<MainQueueTransfer<Value>>()
        do {
            let caller = Caller(decision)
            start({ caller.decision.decide(.success(MainQueueTransfer(contents: $0))) }, { caller.decision.decide(.failure($0)) })
        }
        return try await decision.valueUnlessCancelled().contents
    }

    /// An object that only the two closures retain. Its deinitialization means that neither closure can be called.
    private final class Caller<Value> {
        let decision: Decision<MainQueueTransfer<Value>>

        init(_ decision: Decision<MainQueueTransfer<Value>>) { self.decision = decision }

        deinit { decision.decide(.failure(CancellationError())) }
    }
}
