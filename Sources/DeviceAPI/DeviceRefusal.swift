package import IdentityCore

/// An expected refusal of a device endpoint, in the API form of errors (device-authenticator reference 2.12).
///
/// A front door gives it its form and decides nothing: `causes` become an array of objects with one text each, which is the only
/// shape that official clients read.
package struct DeviceRefusal: Error, Sendable, Equatable {
    /// What a program reads, such as `E0000007`.
    package var code: String
    /// The HTTP status.
    package var status: Int
    /// A sentence for a person, which says what to do.
    package var summary: String
    /// What is wrong in detail, a sentence each.
    package var causes: [String]
    /// Why a challenge can be answered no more, for a program: `expired`, `answered` or `cancelled`; nil for every other refusal.
    package var lateness: String?
    /// Why, for the log only.
    package var reason: String
    /// What was wrong with the proof of a token that is bound to a key, for the challenge; nil for every other refusal.
    package var proof: Refusal?

    /// Makes a refusal.
    package init(code: String, status: Int, summary: String, causes: [String] = [], reason: String) {
        self.code = code
        self.status = status
        self.summary = summary
        self.causes = causes
        self.reason = reason
    }
}

// MARK: - Of requests

extension DeviceRefusal {
    /// The body is no JSON object, or too large to be read.
    ///
    /// - Parameter reason: Why, for the log.
    /// - Returns: `E0000003`, status 400.
    package static func malformed(_ reason: String) -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000003", status: 400, summary: "The request body was not well-formed. Send a JSON object of at most 64 KiB.",
            reason: reason)
    }

    /// The `Accept` header names no version of the API, or another one.
    ///
    /// - Returns: `E0000149`, status 406.
    package static func versionNotAcceptable() -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000149", status: 406,
            summary: "The Accept header must name the version of the API. Send: application/json; okta-version=1.0.0",
            reason: "Accept names no okta-version=1.0.0")
    }

    /// Something in the body cannot be.
    static func invalid(_ what: String, _ causes: [String], reason: String? = nil) -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000001", status: 400, summary: "Api validation failed: \(what)", causes: causes,
            reason: reason ?? causes.joined(separator: " "))
    }

    /// More answers to one challenge than any device gives.
    static let tooManyAnswers = DeviceRefusal(
        code: "E0000047", status: 429, summary: "Too many answers to one challenge. Wait a minute and try again.",
        reason: "answers to one challenge")

    /// A challenge can be answered no more.
    static func tooLate(_ lateness: PushChallenge.Lateness, _ text: String? = nil) -> DeviceRefusal {
        var refusal = invalid("challenge", [text ?? lateness.text])
        refusal.lateness = lateness.word
        return refusal
    }

    /// The policy and the enrolment's user verification key do not go together.
    static func userVerificationRequired() -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000158", status: 400,
            summary: "The authenticator requires a user verification key. Turn user verification on in the app and try again.",
            reason: "user verification is required")
    }
}

// MARK: - Of callers

extension DeviceRefusal {
    /// One answer for every token that is not good.
    static func invalidToken(_ reason: String) -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000011", status: 401, summary: "The token is invalid or expired. Get a new one.", reason: reason)
    }

    /// A token that is bound to a key came without a good proof, or one that is not came with one.
    static func proof(_ refusal: Refusal) -> DeviceRefusal {
        var device = DeviceRefusal(code: "E0000011", status: 401, summary: refusal.description, reason: refusal.reason)
        device.proof = refusal
        return device
    }

    /// The token is good, but not for this.
    package static func accessDenied(_ summary: String, reason: String) -> DeviceRefusal {
        DeviceRefusal(code: "E0000006", status: 403, summary: summary, reason: reason)
    }

    /// One answer for what is not there and for what is somebody else's.
    static func notFound(_ what: String, reason: String) -> DeviceRefusal {
        DeviceRefusal(code: "E0000007", status: 404, summary: "Not found: there is no such \(what).", reason: reason)
    }
}

// MARK: - Of lifecycle

extension DeviceRefusal {
    /// The refusal for what is closed. A deactivated or removed account is deleted to a device.
    init(_ closure: EnrolledDevice.Closure) {
        let (code, status, summary): (String, Int, String) =
            switch closure {
            case .deviceDeleted: ("E0000153", 410, "The device was deleted. Remove the account from the app, then enroll again.")
            case .deviceSuspended: ("E0000152", 403, "The device is suspended. Ask an administrator to open it.")
            case .enrollmentDeleted: ("E0000154", 410, "The enrollment was deleted. Remove the account from the app, then enroll again.")
            case .enrollmentSuspended: ("E0000180", 423, "The enrollment is suspended. Ask an administrator to open it.")
            case .accountSuspended: ("E0000155", 423, "The account is suspended. Ask an administrator to open it.")
            case .accountDeleted: ("E0000156", 410, "The account was deleted. Remove it from the app.")
            }
        self.init(code: code, status: status, summary: summary, reason: closure.reason)
    }

    /// The refusal for the state of an account; `nil` for an active one.
    package static func account(_ user: User?) -> DeviceRefusal? { EnrolledDevice.Closure(of: user).map(DeviceRefusal.init) }
}

extension EnrolledDevice {
    /// Why it can't be used or changed; `nil` if it can (device-authenticator reference 2.12).
    var refusal: DeviceRefusal? { closure.map(DeviceRefusal.init) }
}
