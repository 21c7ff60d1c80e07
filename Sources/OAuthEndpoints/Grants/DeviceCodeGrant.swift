internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// The device code grant: a device polls until the user has decided in a browser (RFC 8628 section 3.4; Documentation/Protocol/OAuth.md
/// §2.4.5). The device code is valid once. Polls before the decision write nothing.
struct DeviceCodeGrant: PollGrantHandler {
    static let grantType = GrantType.deviceCode

    private let request: AdmittedRequest
    private let digest: TicketDigest
    private let state: TicketState
    private let transaction: SignInTransaction
    private let version: Int64
    private let user: User?
    private let isSessionOpen: Bool

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(
            .ticket(
                .deviceCode, TicketDigest(of: parameters["device_code"] ?? ""),
                .owner(.named(.user, byKey: "user"), .named(.session, byKey: "session"))))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        let now = request.context.now
        let code = try request.required("device_code")
        digest = TicketDigest(of: code)
        guard let (stored, state) = try view.transaction(.deviceCode, secret: code, now: now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id
        else { throw Self.invalid("device_code: unknown or another client's") }
        self.state = state
        (transaction, version) = (stored.value, stored.version)
        user = try transaction.userID.flatMap { try GrantUserReader.user(id: $0, in: view) }
        isSessionOpen = try transaction.sessionID.map { [user] in try view.isSessionOpen(id: $0, of: user, now: now) } ?? false
    }

    var awaited: AwaitedDecision? {
        AwaitedDecision(digest: digest, transaction: transaction, version: version, expiresAt: transaction.expiresAt)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let now = request.context.now
        switch state {
        case .fresh: break
        case .expired: throw Self.expired
        case .taken, .closed, .unknown: throw Self.invalid("device_code: used or closed")
        }
        guard now < transaction.expiresAt else {
            engine.pollPacer.forget(digest)
            throw Self.expired
        }
        guard let end = transaction.end else {
            throw Refusal(.authorizationPending, "The user has not decided yet.", reason: "poll: pending")
        }
        engine.pollPacer.forget(digest)
        guard end == .authenticated else {
            // The first poll after the denial closes the code, so that the denial is logged once.
            return .refused(
                Refusal(.accessDenied, "The user denied the request.", reason: "device: denied"),
                Writes([.close(.deviceCode, digest: digest)]), userID: nil)
        }
        // A sign-out or a change of the account since the sign-in makes the code invalid.
        guard let user, user.status == .active, transaction.isAbout(user), isSessionOpen,
            let authentication = transaction.authentication
        else { throw Self.invalid("device_code: session has ended") }
        guard request.application.assignment.includes(user) else {
            throw Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: "user.not_assigned")
        }
        let id = try engine.environment.random.identifier(prefix: "gra")
        let taking = Change.take(.deviceCode, digest: digest, now: now, gave: Array(id.utf8))
        return try UserGrant(
            request: request, user: user, authentication: authentication, scopes: transaction.scopes,
            sessionID: transaction.sessionID, id: id
        ).issue(engine, after: Writes([taking]))
    }

    private static let expired = Refusal(
        .expiredToken, "The user code was not entered in time. Start again.", reason: "device_code: expired")

    /// Returns the refusal of an invalid code. The response is the same for every reason, which only the log shows.
    private static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The device_code is not known, or was used before.", reason: reason)
    }
}
