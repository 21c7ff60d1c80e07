internal import AuthFoundation
internal import Dispatch
internal import Foundation

/// How ``OktaAPI`` makes and sends its requests.
extension OktaAPI {
    /// Where a request goes.
    enum Place {
        /// A path of the organization.
        case path(String)
        /// A link of the server's.
        case link(LinksResponse.Link)
        /// Anywhere.
        case url(URL)
    }

    /// A POST, not yet sent; members that are nil are left out.
    func request(
        to place: Place, _ body: [String: Any?], _ completion: ((OktaAPIRequest.Result) -> Void)?
    ) -> OktaAPIRequest {
        let request = request(to: place) { completion?($0) }
        request.bodyParams = body.compactMapValues { $0 }
        return request
    }

    /// A request without a body whose good answers are no state; not yet sent.
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

    /// The device's name is for the organization only.
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

/// Where closures of the app are called: the main queue.
enum MainQueue: Sendable {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Does it on the main queue: at once if this is there, else in its turn.
    static func run(_ work: @escaping () -> Void) {
        if DispatchQueue.getSpecific(key: mark) == true { work() } else { runLater(work) }
    }

    /// Does it on the main queue, after what is under way there.
    static func runLater(_ work: @escaping () -> Void) {
        let parcel = Parcel(work)
        DispatchQueue.main.async { parcel.contents() }
    }
}

/// Carries a value that is not `Sendable` to the main queue: closures of the app, and statuses, factors and requests, which apps subclass and
/// which are theirs to use on the main queue.
///
/// What makes `@unchecked Sendable` safe: `contents` is a constant that is put in once, before the parcel is sent, and used on the main queue
/// only. The library gives nothing of an app's to any other thread. An app that calls from another queue has to leave the object alone until
/// it is called back.
struct Parcel<Contents>: @unchecked Sendable {
    let contents: Contents

    init(_ contents: Contents) {
        self.contents = contents
    }
}
