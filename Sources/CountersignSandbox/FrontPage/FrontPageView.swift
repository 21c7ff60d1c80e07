/// The values of the front page's template. The template escapes each value. The template looks up a `nil` member in the enclosing value,
/// so nested types must not reuse member names.
struct FrontPageView: Sendable {
    struct User: Sendable {
        var name: String
        var initial: String
        var login: String
        var password: String?
        /// The status of the account; `nil` for an active user.
        var status: String?
        var groups: String?
        /// The address of the user's phone; `nil` if the phones have no page or the user has no password.
        var phone: String?
        var hasPhone: Bool
    }

    struct Application: Sendable {
        var name: String
        var id: String
        var kind: String
        var secret: String?
        var grants: String?
        var redirects: String?
        var policy: String?
        /// The text of the `Okta.plist`.
        var list: String
        var listURL: String
    }

    struct Message: Sendable {
        var kind: String
        var recipient: String
        var text: String
        var code: String?
        var time: String
    }

    struct Call: Sendable {
        var method: String
        var path: String
        var summary: String
        var curl: String
    }

    struct CallGroup: Sendable {
        var title: String
        var calls: [Call]
    }

    struct Clock: Sendable {
        var date: String
        var iso: String
        var mode: String
    }

    var issuer: String
    var discovery: String
    var phonesPage: String?
    var resourceServer: String?
    var authority: String?
    var clock: Clock
    var users: [User]
    var applications: [Application]
    var messageCount: Int
    var messages: [Message]
    var hasMessages: Bool
    var callGroups: [CallGroup]
}
