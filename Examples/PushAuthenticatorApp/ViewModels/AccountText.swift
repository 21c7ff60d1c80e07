internal import Foundation
internal import Wording

/// The texts for accounts and changes, for both user interfaces.
@MainActor
public enum AccountText {
    /// The subtitle of an account.
    ///
    /// - Parameter account: The account.
    /// - Returns: Its organization, its settings, and its problem if there is one.
    public static func detail(of account: Account) -> String { parts(of: account).joined(separator: " · ") }

    /// The VoiceOver text of an account in a list.
    ///
    /// - Parameter account: The account.
    /// - Returns: The user name and the subtitle.
    public static func spoken(of account: Account) -> String { ([account.name] + parts(of: account)).joined(separator: ", ") }

    private static func parts(of account: Account) -> [String] {
        var parts = [account.organization.host() ?? account.organization.absoluteString]
        if account.verifiesUser { parts.append(words("verifies you")) }
        if account.answersCIBA { parts.append(words("requests of apps")) }
        if let trouble = account.trouble { parts.append(trouble) }
        return parts
    }

    /// The title of a change, on its form and button.
    ///
    /// - Parameter change: The change.
    /// - Returns: Its name.
    public static func title(of change: AuthenticatorViewModel.Change) -> String {
        switch change {
        case .enroll: words("Add Account")
        case .userVerification(true, _): words("Turn User Verification On")
        case .userVerification(false, _): words("Turn User Verification Off")
        case .remove: words("Remove Account")
        }
    }

    /// The reason why a form asks for the password.
    ///
    /// - Parameter change: The change.
    /// - Returns: A sentence.
    public static func explanation(of change: AuthenticatorViewModel.Change) -> String {
        switch change {
        case .enroll: words("Sign in to approve future sign-ins on this device.")
        case .userVerification, .remove: words("Sign in again to change who can approve for you.")
        }
    }

    /// The progress of the sign-in for a change.
    ///
    /// - Parameter progress: The progress.
    /// - Returns: A sentence.
    public static func progress(_ progress: AuthenticatorViewModel.Progress) -> String {
        switch progress {
        case .signingIn: words("Signing in…")
        case .waitingForApproval(nil): words("Approve the sign-in on one of your devices, possibly this one.")
        case .waitingForApproval(let number?): words("Approve the sign-in on your device with the number %@.", number)
        }
    }

    /// The text of a form during a request that it does not show.
    public static var requestBehindForm: String { words("A request is waiting. Cancel to answer it.") }

    /// The consequence of a local removal.
    public static var removal: String {
        words("The organization will keep sending requests to this device, which can no longer answer them.")
    }
}
