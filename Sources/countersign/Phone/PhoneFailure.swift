import ArgumentParser
import AuthFoundation
import DeviceAuthenticator
import Foundation

/// Error texts of the phone for the user of the terminal.
enum PhoneFailure {
    /// Returns the text for an error, with the account that it concerns.
    static func text(of error: DeviceAuthenticatorError, for enrollment: AuthenticatorEnrollment) -> String {
        let account = enrollment.user.name ?? enrollment.user.id
        return "\(account) at \(enrollment.organization.url.absoluteString) (\(enrollment.enrollmentId)): \(text(of: error))"
    }

    static func text(of error: DeviceAuthenticatorError) -> String {
        let text = error.debugDescription
        switch error.reason {
        case .numberNotPicked: return "This request is approved with the number that the sign-in shows: add --number."
        case .enrollmentGone:
            return text + " `countersign phone remove --here` removes it from this phone, and `countersign phone enroll` adds it again."
        case .keyMissing:
            return
                "A key of this account is gone from the phone. Remove the account with `countersign phone remove --here`, and enroll again."
        case .userVerificationRequired: return "The organization requires user verification. Enroll with --user-verification."
        case .userVerificationFailed: return "The PIN is wrong, so the sign-in was not approved. Start the sign-in again."
        case .userVerificationCancelled: return "No PIN was given, so the sign-in was not approved. Start the sign-in again."
        default: break
        }
        guard case .serverAPIError(_, let model) = error else { return text }
        let details = model?.errorCauses?.compactMap { $0["errorSummary"] } ?? []
        switch error.reason {
        case .expired, .alreadyAnswered, .cancelled, .clockWrong: return text
        default: return details.isEmpty ? text : details.joined(separator: " ")
        }
    }

    /// Returns the text for a warning that does not stop the phone.
    static func text(of reason: RemediationStepMessageReasonType) -> String {
        switch reason {
        case .userVerificationKeyNotEnrolled: "This phone was enrolled without a PIN: it answers without verifying you."
        case .userVerificationCancelledByUser: "No PIN was given."
        case .userVerificationKeyCorruptedOrMissing: "The key that the PIN opens is damaged or gone. Enroll again with --user-verification."
        case .userVerificationFailed: "The PIN is wrong. The server received the answer that you were not verified."
        }
    }
}

struct PhoneFolder: ParsableArguments {
    @Option(
        name: .customLong("phone"),
        help: ArgumentHelp(
            "The folder of the phone; by default $COUNTERSIGN_PHONE or a folder in ~/.local/share. Each folder is a separate phone.",
            valueName: "folder"))
    var path: String?

    var url: URL {
        path.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? Self.standard(environment: ProcessInfo.processInfo.environment, home: UserFolders.home)
    }

    /// Returns the default folder: `COUNTERSIGN_PHONE` if set, otherwise `countersign/phone` in the user's data folder (XDG base
    /// directories).
    static func standard(environment: [String: String], home: String) -> URL {
        if let path = environment["COUNTERSIGN_PHONE"], !path.isEmpty { return URL(filePath: path, directoryHint: .isDirectory) }
        return UserFolders.data(environment: environment, home: home).appending(path: "countersign/phone", directoryHint: .isDirectory)
    }
}
