public import Foundation
internal import Wording

/// Why a sign-in that was good ends without tokens.
public enum ClassicError: LocalizedError, Equatable {
    /// The client asks for more than the sign-in has proved, such as a second factor.
    case moreIsAsked(client: String)

    /// The problem and its remedy.
    public var errorDescription: String? {
        switch self {
        case .moreIsAsked(let client):
            words("You are signed in, but “%@” asks for more than this sign-in has proved, such as a second factor.", client)
        }
    }
}
