#if canImport(SwiftUI) && canImport(Darwin) && os(iOS)
internal import AuthFoundation
internal import Foundation
internal import SwiftUI

// The appearance of the steps, without a server. The previews in `Examples/SignInPreviews` really sign in.

@MainActor
private func screen(_ state: SignInState, _ problem: SignInProblem.Code? = nil, recovery: String? = nil) -> SignInView {
    let session = SignInSession(options: SignInOptions(recoveryURL: recovery.flatMap(URL.init(string:))))
    session.state = state
    session.problem = problem.map { SignInProblem($0) }
    session.passkeySigner = { _ in throw CancellationError() }
    return SignInView(session: session)
}

private let factors: [SignInFactor] = [.push, .passkey, .authenticatorCode, .textMessage, .call, .recoveryCode]

#Preview("Form") { screen(.signedOut, recovery: "https://example.com/forgot") }
#Preview("Wrong password, dark") { screen(.signedOut, .wrongCredentials).preferredColorScheme(.dark) }
#Preview("Session has ended, German") { screen(.expired).signInTexts(SignInTexts(languageCode: "de")) }
#Preview("Factors") { screen(.signingIn(SignInStep(.factors, factors: factors)), .denied) }
#Preview("Push with a number") { screen(.signingIn(SignInStep(.push, factor: .push, factors: factors, number: "42"))) }
#Preview("Code, large") {
    screen(.signingIn(SignInStep(.code, factor: .textMessage, factors: factors)), .wrongCode).dynamicTypeSize(.accessibility3)
}
#Preview("Locked") { screen(.locked) }
#endif
