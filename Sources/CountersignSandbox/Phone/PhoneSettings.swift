internal import DeviceAuthenticator
public import Foundation
internal import JOSE

extension VirtualPhone {
    /// Whether the user can confirm sign-ins by unlocking the phone.
    public var userVerificationEnabled: Bool { enrollments.first?.userVerificationEnabled ?? false }

    /// Whether the phone accepts back-channel (CIBA) requests.
    public var isCIBAEnabled: Bool { enrollments.first?.isCIBAEnabled ?? false }

    /// Turns user verification on or off. The call signs the user in with two factors; the second factor is this phone.
    /// - Throws: ``PhoneError``, `DeviceAuthenticatorError`, or errors of the sign-in.
    public func setUserVerification(_ isEnabled: Bool) async throws {
        let enrollment = try enrollment()
        try await signIn(needsTwoFactors: true) { try await enrollment.setUserVerification(authenticationToken: $0, enable: isEnabled) }
        change { _ in }
    }

    /// Turns back-channel (CIBA) requests on or off.
    /// - Throws: ``PhoneError/Code/removed``, or `DeviceAuthenticatorError`.
    public func setCIBA(_ isEnabled: Bool) async throws {
        let enrollment = try enrollment()
        try await read { $0.upkeep }.use(for: enrollment) {
            try await enrollment.enableCIBATransactions(authenticationToken: $0, enable: isEnabled)
        }
        change { _ in }
    }

    /// Deletes the enrollment on the server and on the phone. The phone cannot be used afterwards. The call signs the user in with two
    /// factors.
    /// - Throws: ``PhoneError``, `DeviceAuthenticatorError`, or errors of the sign-in.
    public func remove() async throws {
        let enrollment = try enrollment()
        let device = read { $0.device }
        try await signIn(needsTwoFactors: true) { try await device.delete(enrollment: enrollment, authenticationToken: $0) }
        close()
        parts.onRemoval()
        try parts.storage.remove()
    }

    /// Enrolls with the QR code of a sign-in page; the user does not sign in on the phone. Throws ``PhoneError`` if the phone is already
    /// enrolled or the code belongs to another user. In the second case, the server has enrolled the phone for that user, and the phone
    /// cannot be used here.
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
                .otherPerson, "The code is of a sign-in of \(enrollment.user.name ?? "another user"), and this is the phone of \(login).")
        }
        change { _ in }
    }

    /// Enrolls a phone that is not enrolled yet. `clientID` is the app of the authenticator, and `origin` is the organization.
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

    /// Signs the user in, and passes the token to `use`.
    private func signIn(needsTwoFactors: Bool, for use: @Sendable (AuthToken) async throws -> Void) async throws {
        guard let person = parts.person() else {
            throw PhoneError(.unknownPerson, "The sandbox has no user \(login).")
        }
        // Hide the request that this sign-in itself causes.
        change { $0.inbox.hideOwn(of: parts.signIn.clientID) }
        defer { change { $0.inbox.showAll() } }
        try await parts.signIn.run(
            as: person, needsTwoFactors: needsTwoFactors, approve: { [weak self] in try await self?.approveOwn($0) ?? false }, for: use)
    }

    /// Approves the request of the phone's own sign-in. Returns `false` if the request has not arrived.
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

extension VirtualPhone {
    /// Whether the phone is disconnected from the network.
    public var isOffline: Bool { parts.network.isOffline }

    /// Disconnects or reconnects the phone. On reconnection, the phone receives the newest unexpired push that it missed.
    public func setOffline(_ isOffline: Bool) async {
        parts.network.isOffline = isOffline
        change { _ in }
        await parts.gateway.setReachable(!isOffline, deviceToken: read { $0.pushToken }.hexadecimal)
    }

    /// The delay of pushes, in seconds of the sandbox's clock.
    public var delay: TimeInterval {
        get { read { $0.delay } }
        set { change { $0.delay = newValue } }
    }

    /// Whether each push is delivered twice.
    public var deliversTwice: Bool {
        get { read { $0.deliversTwice } }
        set { change { $0.deliversTwice = newValue } }
    }

    /// Whether the user picks a wrong number.
    public var picksWrongNumber: Bool {
        get { read { $0.picksWrongNumber } }
        set { change { $0.picksWrongNumber = newValue } }
    }

    /// The result when the phone asks the user to unlock it.
    public var verification: Verification {
        get { owner.verification }
        set {
            owner.verification = newValue
            change { _ in }
        }
    }

    /// Replaces the push token, as the operating system does; the old token becomes invalid.
    /// - Parameter isTold: Whether the app reports the new token to the server. If it does not, the server learns from the gateway that the
    ///   old token is invalid.
    /// - Throws: ``PhoneError/Code/removed``, or `DeviceAuthenticatorError` if the report failed. After a failed report, call this function
    ///   again.
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

    /// Restarts the phone. The phone forgets the displayed requests, and their pushes do not arrive again. ``pending()`` fetches the
    /// requests that are still pending.
    /// - Throws: `DeviceAuthenticatorError` if the storage cannot be read.
    public func restart() throws {
        let device = try parts.makeDevice(owner: owner)
        change { state in
            state.device = device
            state.upkeep = UpkeepTokens()
            state.inbox.forgetWaiting()
        }
    }
}
