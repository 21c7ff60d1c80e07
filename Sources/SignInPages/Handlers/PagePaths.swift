package import ServerHTTP

/// The paths of the pages. A token or handle in them is secret, so that the access log hides these paths.
extension RoutePath {
    /// A page of a sign-in.
    static let signIn: RoutePath = "/signin/{token}"
    /// A submitted form of a sign-in.
    static let signInStep: RoutePath = "/signin/{token}/{step}"
    /// The events that tell a waiting page to continue.
    static let signInEvents: RoutePath = "/signin/{token}/events"
    package static let asset: RoutePath = "/signin/assets/{digest}/{name}"

    /// The forms for the user name, opened from a sign-in, and the pages that announce a mail.
    static let forgot: RoutePath = "/signin/{token}/forgot"
    static let forgotMailed: RoutePath = "/signin/{token}/forgot-mailed"
    static let unlockForm: RoutePath = "/signin/{token}/unlock"
    static let unlockMailed: RoutePath = "/signin/{token}/unlock-mailed"
    /// A page of a recovery, and its submitted forms.
    static let recovery: RoutePath = "/signin/recover/{token}"
    static let recoveryStep: RoutePath = "/signin/recover/{token}/{step}"

    /// The links of mails. Their secret is stored in a cookie, and the browser is redirected to one of the two pages below.
    package static let resetPassword: RoutePath = "/signin/reset-password/{token}"
    package static let unlock: RoutePath = "/signin/unlock/{token}"
    package static let mailLink: RoutePath = "/signin/mail/{token}"
    static let linkRecovery: RoutePath = "/signin/link/{handle}/recover"
    static let linkConfirmation: RoutePath = "/signin/link/{handle}/confirm"
}

extension RecoveryPlace {
    var path: String {
        switch self {
        case .form(let token, let isUnlock): isUnlock ? RoutePath.unlockForm(token) : RoutePath.forgot(token)
        case .sent(let token, let isUnlock): isUnlock ? RoutePath.unlockMailed(token) : RoutePath.forgotMailed(token)
        case .page(let token): RoutePath.recovery(token)
        }
    }
}
