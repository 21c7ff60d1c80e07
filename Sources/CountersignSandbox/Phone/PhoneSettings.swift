internal import DeviceAuthenticator
public import Foundation

/// What a person changes on their phone.
extension VirtualPhone {
    /// Whether sign-ins to it can be confirmed by unlocking the phone.
    public var userVerificationEnabled: Bool { enrollments.first?.userVerificationEnabled ?? false }

    /// Whether it takes back-channel requests.
    public var isCIBAEnabled: Bool { enrollments.first?.isCIBAEnabled ?? false }

    /// Turns user verification on or off. The person signs in for that, with both factors, the second of which is this phone.
    ///
    /// - Parameter isEnabled: Whether it shall be on.
    /// - Throws: ``PhoneError``, `DeviceAuthenticatorError`, or what the sign-in throws.
    public func setUserVerification(_ isEnabled: Bool) async throws {
        let enrollment = try enrollment()
        try await signIn(needsTwoFactors: true) { try await enrollment.setUserVerification(authenticationToken: $0, enable: isEnabled) }
        change { _ in }
    }

    /// Lets back-channel requests come, or not.
    ///
    /// - Parameter isEnabled: Whether they may.
    /// - Throws: ``PhoneError/Code/removed``, or `DeviceAuthenticatorError`.
    public func setCIBA(_ isEnabled: Bool) async throws {
        let enrollment = try enrollment()
        try await read { $0.upkeep }.use(for: enrollment) {
            try await enrollment.enableCIBATransactions(authenticationToken: $0, enable: isEnabled)
        }
        change { _ in }
    }

    /// Deletes the enrollment on the server and on the phone, which is of no use afterwards. The person signs in for that, with both factors.
    ///
    /// - Throws: ``PhoneError``, `DeviceAuthenticatorError`, or what the sign-in throws.
    public func remove() async throws {
        let enrollment = try enrollment()
        let device = read { $0.device }
        try await signIn(needsTwoFactors: true) { try await device.delete(enrollment: enrollment, authenticationToken: $0) }
        close()
        parts.onRemoval()
        try parts.storage.remove()
    }

    // MARK: - Enrolling

    /// Enrolls by the QR code of a sign-in page, unless it is enrolled: nobody signs in on the phone.
    ///
    /// - Parameters:
    ///   - link: What was scanned.
    ///   - userVerification: Whether to make a user verification key.
    /// - Throws: ``PhoneError`` if the code is another person's, in which case the phone is enrolled for that person and of no use here;
    ///   `DeviceAuthenticatorError`.
    func enroll(scanning link: EnrollmentLink, userVerification: Bool) async throws {
        guard enrollments.isEmpty else {
            throw PhoneError(.otherPerson, "The phone of \(login) is enrolled already. Remove it first.")
        }
        let (device, pushToken) = read { ($0.device, $0.pushToken) }
        var parameters = EnrollmentParameters(deviceToken: .tokenData(pushToken))
        parameters.enableUserVerification(enable: userVerification)
        let enrollment = try await device.enroll(link, enrollmentParameters: parameters)
        guard enrollment.user.name?.lowercased() == login.lowercased() else {
            throw PhoneError(
                .otherPerson, "The code is of a sign-in of \(enrollment.user.name ?? "somebody else"), and this is the phone of \(login).")
        }
        change { _ in }
    }

    /// Enrolls, unless it is.
    ///
    /// - Parameters:
    ///   - userVerification: Whether to make a user verification key.
    ///   - clientID: The app of the authenticator.
    ///   - origin: The organization.
    /// - Throws: ``PhoneError``, `DeviceAuthenticatorError`, or what the sign-in throws.
    func enroll(userVerification: Bool, clientID: String, origin: URL) async throws {
        if let known = enrollments.first {
            guard known.organization.url.absoluteString == origin.absoluteString else {
                throw PhoneError(
                    .otherOrigin,
                    "The phone of \(login) is enrolled at \(known.organization.url.absoluteString), and the sandbox is at \(origin.absoluteString). Start it there again, or with another folder."
                )
            }
            return
        }
        let (device, pushToken) = read { ($0.device, $0.pushToken) }
        try await signIn(needsTwoFactors: false) { token in
            var parameters = EnrollmentParameters(deviceToken: .tokenData(pushToken))
            parameters.enableUserVerification(enable: userVerification)
            _ = try await device.enroll(
                authenticationToken: token, authenticatorConfig: DeviceAuthenticatorConfig(orgURL: origin, oidcClientId: clientID),
                enrollmentParameters: parameters)
        }
        change { _ in }
    }

    func enrollment() throws -> any AuthenticatorEnrollmentProtocol {
        guard read({ $0.isOn }), let enrollment = enrollments.first else {
            throw PhoneError(.removed, "The phone of \(login) was removed. Ask the sandbox for a new one.")
        }
        return enrollment
    }

    // MARK: - Signing in

    /// Signs the person in, and does something with the token.
    private func signIn(needsTwoFactors: Bool, for use: @Sendable (AuthToken) async throws -> Void) async throws {
        guard let person = parts.person() else {
            throw PhoneError(.unknownPerson, "There is nobody with the login \(login) in the sandbox.")
        }
        // Its own request is not for the person to see.
        change { $0.inbox.hideOwn(of: parts.signIn.clientID) }
        defer { change { $0.inbox.showAll() } }
        try await parts.signIn.run(
            as: person, needsTwoFactors: needsTwoFactors, approve: { [weak self] in try await self?.approveOwn($0) ?? false }, for: use)
    }

    /// Answers the request of the phone's own sign-in.
    private func approveOwn(_ number: String?) async throws -> Bool {
        try await pull()
        guard let taken = change({ $0.inbox.takeOwn() }) else { return false }
        defer { change { $0.inbox.forgetOwn(taken.request.id) } }
        try await taken.challenge.resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return step.defaultProcess() }
            step.provide(.approved, selectedNumber: number)
        }
        return true
    }
}

/// What phones do wrong.
extension VirtualPhone {
    /// Whether it has no connection.
    public var isOffline: Bool { parts.network.isOffline }

    /// Takes the phone's connection away, or gives it back. Of the pushes meanwhile, the newest that is still good arrives then.
    ///
    /// - Parameter isOffline: Whether it shall have none.
    public func setOffline(_ isOffline: Bool) async {
        parts.network.isOffline = isOffline
        change { _ in }
        await parts.gateway.setReachable(!isOffline, deviceToken: read { $0.pushToken }.hexadecimal)
    }

    /// How much later than they should pushes arrive, in seconds of the sandbox's clock.
    public var delay: TimeInterval {
        get { read { $0.delay } }
        set { change { $0.delay = newValue } }
    }

    /// Whether each push is delivered twice.
    public var deliversTwice: Bool {
        get { read { $0.deliversTwice } }
        set { change { $0.deliversTwice = newValue } }
    }

    /// Whether the person picks a number other than the one that they are told.
    public var picksWrongNumber: Bool {
        get { read { $0.picksWrongNumber } }
        set { change { $0.picksWrongNumber = newValue } }
    }

    /// What comes of it when the phone asks to be unlocked.
    public var verification: Verification {
        get { owner.verification }
        set {
            owner.verification = newValue
            change { _ in }
        }
    }

    /// Gets a new push token from the system; the old one is dead from now on.
    ///
    /// - Parameter isTold: Whether the app tells the server; if not, it goes on pushing to the old one, and learns that it is dead.
    /// - Throws: ``PhoneError/Code/removed``, or `DeviceAuthenticatorError` if the server could not be told: call it again.
    public func replaceToken(telling isTold: Bool = true) async throws {
        let enrollment = try enrollment()
        let token = try parts.storage.renewPushToken()
        let old = change { state in
            defer { state.pushToken = token }
            return state.pushToken
        }
        register(token)
        parts.gateway.unregister(deviceToken: old.hexadecimal)
        if isOffline { await parts.gateway.setReachable(false, deviceToken: token.hexadecimal) }
        guard isTold else { return }
        try await read { $0.upkeep }.use(for: enrollment) { try await enrollment.updateDeviceToken(token, authenticationToken: $0) }
    }

    /// Switches the phone off and on: what it showed is forgotten, and no push comes again. ``pending()`` finds what still waits.
    ///
    /// - Throws: `DeviceAuthenticatorError` if its storage can't be read.
    public func restart() throws {
        let device = try parts.makeDevice(owner: owner)
        change { state in
            state.device = device
            state.upkeep = UpkeepTokens()
            state.inbox.forgetWaiting()
        }
    }
}
