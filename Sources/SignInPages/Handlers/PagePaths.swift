package import ServerHTTP

/// The paths of the pages. A token or handle in a path is secret, so the access log hides these paths.
extension RoutePath {
    /// The current page of a sign-in.
    static let signIn: RoutePath = "/signin/{token}"
    /// A submitted form of a sign-in.
    static let signInStep: RoutePath = "/signin/{token}/{step}"
    /// The events that tell a waiting page to continue.
    static let signInEvents: RoutePath = "/signin/{token}/events"
    /// A file that the pages load.
    package static let asset: RoutePath = "/signin/assets/{digest}/{name}"

    /// The form for the user name after a forgotten password, opened from a sign-in.
    static let forgot: RoutePath = "/signin/{token}/forgot"
    /// The page that announces a mail for a forgotten password.
    static let forgotMailed: RoutePath = "/signin/{token}/forgot-mailed"
    /// The form for the user name to unlock an account, opened from a sign-in.
    static let unlockForm: RoutePath = "/signin/{token}/unlock"
    /// The page that announces a mail to unlock an account.
    static let unlockMailed: RoutePath = "/signin/{token}/unlock-mailed"
    /// The form for the user name to replace a password, without a sign-in.
    static let newPassword: RoutePath = "/signin/new-password"
    /// The page that announces a mail for a new password, without a sign-in.
    static let newPasswordMailed: RoutePath = "/signin/new-password/mailed"
    /// The address that password managers open (W3C, A Well-Known URL for Changing Passwords).
    static let changePassword: RoutePath = "/.well-known/change-password"
    /// A page of a recovery.
    static let recovery: RoutePath = "/signin/recover/{token}"
    /// A submitted form of a recovery.
    static let recoveryStep: RoutePath = "/signin/recover/{token}/{step}"

    // The URLs in mails. The response stores the secret in a cookie, and redirects to `linkRecovery` or `linkConfirmation`.

    /// The URL in a mail for a forgotten password.
    package static let resetPassword: RoutePath = "/signin/reset-password/{token}"
    /// The URL in a mail to unlock an account.
    package static let unlock: RoutePath = "/signin/unlock/{token}"
    /// The URL in a mail with a code.
    package static let mailLink: RoutePath = "/signin/mail/{token}"
    /// The page of a link for recovery or activation.
    static let linkRecovery: RoutePath = "/signin/link/{handle}/recover"
    /// The page of a link that came with a code.
    static let linkConfirmation: RoutePath = "/signin/link/{handle}/confirm"
}

extension RecoveryPlace {
    var path: String {
        switch self {
        case .form(let token, let isUnlock): isUnlock ? RoutePath.unlockForm(token) : RoutePath.forgot(token)
        case .sent(let token, let isUnlock): isUnlock ? RoutePath.unlockMailed(token) : RoutePath.forgotMailed(token)
        case .newPassword: RoutePath.newPassword.pattern
        case .newPasswordMailed: RoutePath.newPasswordMailed.pattern
        case .page(let token): RoutePath.recovery(token)
        }
    }
}
