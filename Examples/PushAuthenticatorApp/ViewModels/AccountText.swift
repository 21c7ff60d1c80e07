internal import Foundation
internal import Wording

/// The texts for accounts and changes, for both user interfaces.
@MainActor
public enum AccountText {
    /// Returns the subtitle of an account: its organization, its settings, and its problem if it has one.
    public static func detail(of account: Account) -> String { parts(of: account).joined(separator: " · ") }

    /// Returns the VoiceOver text of an account in a list: the user name and the subtitle.
    public static func spoken(of account: Account) -> String { ([account.name] + parts(of: account)).joined(separator: ", ") }

    private static func parts(of account: Account) -> [String] {
        var parts = [account.organization.host() ?? account.organization.absoluteString]
        if account.verifiesUser { parts.append(words("verifies you")) }
        if account.answersCIBA { parts.append(words("requests of apps")) }
        if let trouble = account.trouble { parts.append(trouble) }
        return parts
    }

    /// Returns the title of a change, for its form and its button.
    public static func title(of change: AuthenticatorViewModel.Change) -> String {
        switch change {
        case .enroll: words("Add Account")
        case .userVerification(true, _): words("Turn User Verification On")
        case .userVerification(false, _): words("Turn User Verification Off")
        case .remove: words("Remove Account")
        }
    }

    /// Returns the reason why a form asks for the password, as a sentence.
    public static func explanation(of change: AuthenticatorViewModel.Change) -> String {
        switch change {
        case .enroll: words("Sign in to approve future sign-ins on this device.")
        case .userVerification, .remove: words("Sign in again to change who can approve for you.")
        }
    }

    /// Returns the progress of the sign-in for a change, as a sentence.
    public static func progress(_ progress: AuthenticatorViewModel.Progress) -> String {
        switch progress {
        case .signingIn: words("Signing in…")
        case .waitingForApproval(nil): words("Approve the sign-in on one of your devices, possibly this one.")
        case .waitingForApproval(let number?): words("Approve the sign-in on your device with the number %@.", number)
        }
    }

    /// The text of a form while a request is pending that the form does not show.
    public static var requestBehindForm: String { words("A request is waiting. Cancel to answer it.") }

    /// The consequence of a removal from this device only.
    public static var removal: String {
        words("The organization will keep sending requests to this device, which can no longer answer them.")
    }
}
