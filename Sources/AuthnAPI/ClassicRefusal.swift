internal import Foundation
package import IdentityCore

/// An expected refusal of the classic sign-in API (authn reference 1.4 and 1.5). A front door gives it its form and decides nothing.
package struct ClassicRefusal: Error, Sendable, Equatable {
    /// What a program reads, such as `E0000004`.
    package var code: String
    /// The HTTP status.
    package var status: Int
    /// A sentence for a person.
    package var summary: String
    /// What is wrong in detail, a sentence each.
    package var causes: [String]
    /// Why, for the log only.
    package var reason: String
    /// The limit that was met, for the headers; nil for every other refusal.
    package var rateLimit: RateLimitStatus?
    /// The user, for the log only; `nil` if unknown.
    var userID: String?
    /// The limit of the organization on wrong guesses in recoveries, if this was one; `nil` for every other refusal.
    var guessLimit: Int?

    /// Makes a refusal.
    package init(
        code: String, status: Int, summary: String, causes: [String] = [], reason: String, rateLimit: RateLimitStatus? = nil
    ) {
        self.code = code
        self.status = status
        self.summary = summary
        self.causes = causes
        self.reason = reason
        self.rateLimit = rateLimit
    }
}

// MARK: - Of requests

extension ClassicRefusal {
    /// The body is no JSON object, or too large to be read.
    ///
    /// - Parameter reason: Why, for the log.
    /// - Returns: `E0000003`, status 400.
    package static func malformed(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000003", status: 400, summary: "The request body was not well-formed. Send a JSON object of at most 64 KiB.",
            reason: reason)
    }

    /// A member of the body is missing or cannot be.
    ///
    /// - Parameters:
    ///   - object: What the reference calls the body, such as `authRequest`.
    ///   - causes: A sentence for each.
    /// - Returns: `E0000001`, status 400.
    package static func invalid(_ object: String, _ causes: [String]) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000001", status: 400, summary: "Api validation failed: \(object)", causes: causes,
            reason: causes.joined(separator: " "))
    }

    /// Requests over a limit.
    ///
    /// - Parameters:
    ///   - status: The limit; nil for one of the moment.
    ///   - reason: Which, for the log.
    /// - Returns: `E0000047`, status 429.
    package static func tooManyRequests(_ status: RateLimitStatus?, reason: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000047", status: 429, summary: "Too many requests. Wait and try again.", reason: reason, rateLimit: status)
    }

    /// The API is off.
    static let notEnabled = ClassicRefusal(
        code: "E0000015", status: 401, summary: "This organization does not offer this API.", reason: "authn: not configured")
}

// MARK: - Of callers and transactions

extension ClassicRefusal {
    /// One answer to everything that keeps a person out before they are in.
    static func authenticationFailed(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(code: "E0000004", status: 401, summary: "Authentication failed", reason: reason)
    }

    /// One answer to every token that leads nowhere (any more).
    static func invalidToken(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(code: "E0000011", status: 401, summary: "The token is invalid or expired. Begin again.", reason: reason)
    }

    /// The transaction is somewhere else.
    static func notAllowed(in status: String) -> ClassicRefusal {
        let text = "This operation is not allowed in the current state of the sign-in."
        return ClassicRefusal(code: "E0000079", status: 403, summary: text, causes: [text], reason: "authn: not in \(status)")
    }

    /// There is no such factor of the person's.
    static let unknownFactor = ClassicRefusal(
        code: "E0000007", status: 404, summary: "Not found: there is no such factor.", reason: "authn: unknown factor")

    /// A code or an answer was wrong.
    static let wrongCode = ClassicRefusal(
        code: "E0000068", status: 403, summary: "Invalid Passcode/Answer",
        causes: ["The code or the answer is wrong. Check it and try again."], reason: "authn: wrong code")

    /// A code was used before.
    static let replayedCode = ClassicRefusal(
        code: "E0000082", status: 403, summary: "The code was used before.", causes: ["Wait until another code is shown, and enter that."],
        reason: "authn: code was used")

    /// A code came too late.
    static let lateCode = ClassicRefusal(
        code: "E0000083", status: 403, summary: "The code is right, but too old.",
        causes: ["Enter the code that is shown now; the clock of the device must be right."], reason: "authn: code is too old")

    /// Too many wrong answers: the transaction is over.
    static let locked = ClassicRefusal(
        code: "E0000069", status: 403, summary: "The sign-in is locked after too many wrong answers.", reason: "authn: locked")

    /// A code is not sent, or a telephone or mailbox not set up.
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

    /// The person's devices cannot be asked.
    static func factorFailed(_ refusal: Refusal) -> ClassicRefusal {
        guard let limit = refusal.rateLimit else {
            return ClassicRefusal(
                code: "E0000074", status: 400, summary: "The factor cannot be used now. Choose another one.",
                causes: [refusal.description], reason: refusal.reason)
        }
        return .tooManyRequests(limit, reason: refusal.reason)
    }
}
