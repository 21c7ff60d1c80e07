internal import Foundation
package import IdentityCore

/// An expected refusal of the classic sign-in API (Documentation/Protocol/Authn.md §1.4 and §1.5).
package struct ClassicRefusal: Error, Sendable, Equatable {
    /// The error code, such as `E0000004`.
    package var code: String
    package var status: Int
    /// The message for the user.
    package var summary: String
    /// The details, one sentence each.
    package var causes: [String]
    /// The reason, for the log only.
    package var reason: String
    /// The exceeded limit, for the headers; `nil` for other refusals.
    package var rateLimit: RateLimitStatus?
    /// The user, for the log only; `nil` if unknown.
    var userID: String?
    /// The signal of a wrong guess in a recovery that counts against the organization's limit; `nil` for other refusals.
    var guess: SecuritySignal?

    package init(
        code: String, status: Int, summary: String, causes: [String] = [], reason: String, rateLimit: RateLimitStatus? = nil
    ) {
        (self.code, self.status, self.summary, self.causes, self.reason) = (code, status, summary, causes, reason)
        self.rateLimit = rateLimit
    }
}

extension ClassicRefusal {
    /// Returns `E0000003` for a body that is too large or not a JSON object. `reason` is for the log.
    package static func malformed(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000003", status: 400, summary: "The request body was not well-formed. Send a JSON object of at most 64 KiB.",
            reason: reason)
    }

    /// Returns `E0000001` for a missing or invalid member of the body.
    /// - Parameters:
    ///   - object: The name of the body in the protocol, such as `authRequest`.
    ///   - causes: One sentence for each fault.
    package static func invalid(_ object: String, _ causes: [String]) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000001", status: 400, summary: "Api validation failed: \(object)", causes: causes,
            reason: causes.joined(separator: " "))
    }

    /// Returns `E0000047` for an exceeded limit. `reason` names the limit in the log.
    package static func tooManyRequests(_ status: RateLimitStatus?, reason: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000047", status: 429, summary: "Too many requests. Wait and try again.", reason: reason, rateLimit: status)
    }

    /// The refusal of every request while the API is off.
    static let notEnabled = ClassicRefusal(
        code: "E0000015", status: 401, summary: "This organization does not offer this API.", reason: "authn: not configured")
}

extension ClassicRefusal {
    /// Returns the refusal of every failed sign-in. Only `reason` differs.
    static func authenticationFailed(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(code: "E0000004", status: 401, summary: "Authentication failed", reason: reason)
    }

    /// Returns the refusal of every invalid token. Only `reason` differs.
    static func invalidToken(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(code: "E0000011", status: 401, summary: "The token is invalid or expired. Begin again.", reason: reason)
    }

    /// Returns the refusal of a step that is not allowed in the current status.
    static func notAllowed(in status: String) -> ClassicRefusal {
        let text = "This operation is not allowed in the current state of the sign-in."
        return ClassicRefusal(code: "E0000079", status: 403, summary: text, causes: [text], reason: "authn: not in \(status)")
    }

    /// The refusal of a factor that the user does not have.
    static let unknownFactor = ClassicRefusal(
        code: "E0000007", status: 404, summary: "Not found: there is no such factor.", reason: "authn: unknown factor")

    static let wrongCode = ClassicRefusal(
        code: "E0000068", status: 403, summary: "Invalid Passcode/Answer",
        causes: ["The code or the answer is wrong. Check it and try again."], reason: "authn: wrong code")

    /// Returns the refusal of every invalid response of a passkey. Only `reason` differs.
    static func wrongPasskey(_ reason: String = "authn: wrong passkey") -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000068", status: 403, summary: "Invalid Passcode/Answer",
            causes: ["The passkey could not be verified. Try again, or choose another factor."], reason: reason)
    }

    static let replayedCode = ClassicRefusal(
        code: "E0000082", status: 403, summary: "The code was used before.", causes: ["Wait until another code is shown, and enter that."],
        reason: "authn: code was used")

    /// The refusal of an expired code.
    static let lateCode = ClassicRefusal(
        code: "E0000083", status: 403, summary: "The code is right, but too old.",
        causes: ["Enter the code that is shown now; the clock of the device must be right."], reason: "authn: code is too old")

    /// The refusal after too many wrong answers, which ended the sign-in.
    static let locked = ClassicRefusal(
        code: "E0000069", status: 403, summary: "The sign-in is locked after too many wrong answers.", reason: "authn: locked")

    /// Creates the refusal for a code, or for the enrollment of a phone or mail address.
    init(_ refusal: CodeRefusal, context: RequestContext) {
        func limited(_ code: String, _ summary: String, until: Date) -> ClassicRefusal {
            ClassicRefusal(
                code: code, status: 429, summary: summary, reason: refusal.reason,
                rateLimit: RateLimitStatus(limit: 1, remaining: 0, reset: until, isAdmitted: false))
        }
        switch refusal {
        case .tooSoon(.sms, let until): self = limited("E0000109", "A text was sent a moment ago. Wait before asking again.", until: until)
        case .tooSoon(.voice, let until):
            self = limited("E0000133", "A call was made a moment ago. Wait before asking again.", until: until)
        case .tooSoon(.email, let until):
            self = limited("E0000118", "A mail was sent a moment ago. Wait before asking again.", until: until)
        case .tooMany(_, let until): self = limited("E0000047", "Too many codes, or wrong ones. Wait and try again.", until: until)
        case .invalidNumber:
            self.init(
                code: "E0000098", status: 400, summary: "The phone number cannot be read.",
                causes: ["phoneNumber: Write it with its calling code: +49 30 1234567."], reason: refusal.reason)
        case .invalidExtension:
            self.init(
                code: "E0000121", status: 400, summary: "The phone extension cannot be read.",
                causes: ["phoneExtension: It has 1 to 15 digits."], reason: refusal.reason)
        case .foreignNumber:
            self.init(
                code: "E0000099", status: 403, summary: "Numbers of that country are not enabled.",
                causes: ["phoneNumber: Use a number of another country."], reason: refusal.reason)
        case .otherNumber: self = .invalid("factorEnrollRequest", ["phoneNumber: There is an existing verified phone number."])
        case .noNumber: self = .invalid("factorEnrollRequest", ["phoneNumber: The member must be there."])
        case .noAddress: self = .invalid("factorEnrollRequest", ["email: There is no address that mail can be sent to."])
        case .notPending: self = .notAllowed(in: "activation")
        case .wrongCode: self = .wrongCode
        }
    }

    /// Returns the refusal for a push that cannot be sent.
    static func factorFailed(_ refusal: Refusal) -> ClassicRefusal {
        guard let limit = refusal.rateLimit else {
            return ClassicRefusal(
                code: "E0000074", status: 400, summary: "The factor cannot be used now. Choose another one.",
                causes: [refusal.description], reason: refusal.reason)
        }
        return .tooManyRequests(limit, reason: refusal.reason)
    }
}
