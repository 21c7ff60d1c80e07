package import AuthFoundation
public import Foundation

/// The texts of the screens, in English and German. They are part of the code, so that no resource bundle can be missing.
///
/// ```swift
/// var texts = SignInTexts()  // in the language of the app
/// texts.title = "Welcome to Acme"
/// ```
///
/// For another language, copy `Documentation/CountersignUI.xcstrings` to the app as a String Catalog, translate it there, and use
/// ``init(bundle:table:)``. A text with a variable part contains `%@`.
public struct SignInTexts: Sendable, Hashable {
    // MARK: The form

    /// The title of the form.
    public var title: String
    /// The label of the field for the user name.
    public var userName: String
    /// The label of the field for the password.
    public var password: String
    /// The button that sends the form.
    public var signIn: String
    /// The button for a sign-in with a passkey.
    public var signInWithPasskey: String
    /// The button for a sign-in in the browser.
    public var signInWithBrowser: String
    /// The link for users who forgot the password.
    public var forgotPassword: String
    /// The progress while the server checks the password.
    public var signingIn: String
    /// The message above the form after the session has ended.
    public var sessionEnded: String

    // MARK: The list of second factors

    /// The title of the list of second factors.
    public var factorsTitle: String
    /// The instruction of the list of second factors.
    public var factorsMessage: String
    /// The list entry for an approval on a phone.
    public var push: String
    /// The list entry for a code of an authenticator app.
    public var authenticatorCode: String
    /// The list entry for a code by text message.
    public var textMessage: String
    /// The list entry for a code by phone call.
    public var call: String
    /// The list entry for a passkey.
    public var passkey: String
    /// The list entry for a recovery code.
    public var recoveryCode: String

    // MARK: Waiting for another device

    /// The title while the user approves on a phone.
    public var pushTitle: String
    /// The instruction while the user approves on a phone.
    public var pushMessage: String
    /// The instruction above the number that the user selects on the phone.
    public var pushNumber: String
    /// The text that VoiceOver speaks for the number, with `%@` for it.
    public var pushNumberSpoken: String
    /// The button that sends the push again.
    public var sendPushAgain: String

    // MARK: Codes

    /// The title of the screen for a code.
    public var codeTitle: String
    /// The instruction for a code of an authenticator app.
    public var authenticatorCodeMessage: String
    /// The instruction for a code by text message.
    public var textMessageMessage: String
    /// The instruction for a code by phone call.
    public var callMessage: String
    /// The instruction for a recovery code.
    public var recoveryCodeMessage: String
    /// The label of the field for a code.
    public var code: String
    /// The button that sends the code.
    public var verify: String
    /// The button that requests another code.
    public var resendCode: String

    // MARK: Passkey, browser, locked device

    /// The title while the system asks for a passkey.
    public var passkeyTitle: String
    /// The instruction while the system asks for a passkey.
    public var passkeyMessage: String
    /// The title while the browser is open.
    public var browserTitle: String
    /// The instruction while the browser is open.
    public var browserMessage: String
    /// The title while the device or the session is locked.
    public var lockedTitle: String
    /// The instruction while the device or the session is locked.
    public var lockedMessage: String
    /// The button that unlocks the session.
    public var unlock: String
    /// The button that signs out of a locked session.
    public var signOut: String

    // MARK: Buttons of several screens

    /// The button that leads to the list of second factors.
    public var tryAnotherWay: String
    /// The button that ends the sign-in.
    public var cancel: String

    /// The messages of problems.
    public var problems: Problems

    /// The texts of `PushRequestView`.
    public var requests: Requests

    /// Creates the texts in the language of the app on Apple's systems, and in the language of the environment elsewhere.
    public init() {
        self.init { _, text in text.text }
    }

    /// Creates the texts in a language.
    /// - Parameter languageCode: A language tag such as `de` or `de-AT`. A language without texts gives English.
    public init(languageCode: String) {
        let language = TextLanguage.best(of: [languageCode])
        self.init { _, text in text[language] }
    }

    /// Creates the texts of a String Catalog or a strings file of the app. A key that is missing there has the built-in text.
    /// - Parameters:
    ///   - bundle: The bundle of the app.
    ///   - table: The name of the catalog without `.xcstrings`.
    public init(bundle: Bundle, table: String = "CountersignUI") {
        self.init { key, text in bundle.localizedString(forKey: key, value: text.text, table: table) }
    }

    /// Creates the texts from a function, which receives the key and the built-in text of each. `scripts/string-catalog` reads the keys and
    /// texts from these lines.
    package init(_ text: (_ key: String, _ builtIn: LocalizedText) -> String) {
        title = text("title", LocalizedText("Sign in", de: "Anmelden"))
        userName = text("userName", LocalizedText("User name", de: "Benutzername"))
        password = text("password", LocalizedText("Password", de: "Passwort"))
        signIn = text("signIn", LocalizedText("Sign in", de: "Anmelden"))
        signInWithPasskey = text("signInWithPasskey", LocalizedText("Sign in with a passkey", de: "Mit Passkey anmelden"))
        signInWithBrowser = text("signInWithBrowser", LocalizedText("Continue in the browser", de: "Im Browser fortfahren"))
        forgotPassword = text("forgotPassword", LocalizedText("Forgot password?", de: "Passwort vergessen?"))
        signingIn = text("signingIn", LocalizedText("Signing in…", de: "Anmeldung läuft …"))
        sessionEnded = text(
            "sessionEnded",
            LocalizedText("Your session has ended. Sign in again.", de: "Ihre Sitzung ist beendet. Melden Sie sich erneut an."))
        factorsTitle = text("factorsTitle", LocalizedText("Verify it's you", de: "Identität bestätigen"))
        factorsMessage = text("factorsMessage", LocalizedText("Choose how to verify.", de: "Wählen Sie eine Methode."))
        push = text("push", LocalizedText("Approve on your phone", de: "Auf dem Telefon zustimmen"))
        authenticatorCode = text(
            "authenticatorCode", LocalizedText("Code from your authenticator app", de: "Code Ihrer Authenticator-App"))
        textMessage = text("textMessage", LocalizedText("Code by text message", de: "Code per SMS"))
        call = text("call", LocalizedText("Code by phone call", de: "Code per Anruf"))
        passkey = text("passkey", LocalizedText("Passkey", de: "Passkey"))
        recoveryCode = text("recoveryCode", LocalizedText("Recovery code", de: "Wiederherstellungscode"))
        pushTitle = text("pushTitle", LocalizedText("Approve on your phone", de: "Stimmen Sie auf dem Telefon zu"))
        pushMessage = text(
            "pushMessage", LocalizedText("We sent a request to your phone.", de: "Wir haben eine Anfrage an Ihr Telefon gesendet."))
        pushNumber = text(
            "pushNumber", LocalizedText("Select this number on your phone:", de: "Wählen Sie auf dem Telefon diese Zahl:"))
        pushNumberSpoken = text(
            "pushNumberSpoken", LocalizedText("Select the number %@ on your phone.", de: "Wählen Sie auf dem Telefon die Zahl %@."))
        sendPushAgain = text("sendPushAgain", LocalizedText("Send again", de: "Erneut senden"))
        codeTitle = text("codeTitle", LocalizedText("Enter the code", de: "Code eingeben"))
        authenticatorCodeMessage = text(
            "authenticatorCodeMessage",
            LocalizedText("Enter the code from your authenticator app.", de: "Geben Sie den Code aus Ihrer Authenticator-App ein."))
        textMessageMessage = text(
            "textMessageMessage", LocalizedText("Enter the code from the text message.", de: "Geben Sie den Code aus der SMS ein."))
        callMessage = text(
            "callMessage", LocalizedText("Enter the code from the phone call.", de: "Geben Sie den Code aus dem Anruf ein."))
        recoveryCodeMessage = text(
            "recoveryCodeMessage",
            LocalizedText(
                "Enter one of the recovery codes that you saved. Each code works once.",
                de: "Geben Sie einen Ihrer gespeicherten Wiederherstellungscodes ein. Jeder Code gilt einmal."))
        code = text("code", LocalizedText("Code", de: "Code"))
        verify = text("verify", LocalizedText("Verify", de: "Bestätigen"))
        resendCode = text("resendCode", LocalizedText("Resend code", de: "Code erneut senden"))
        passkeyTitle = text("passkeyTitle", LocalizedText("Use your passkey", de: "Passkey verwenden"))
        passkeyMessage = text(
            "passkeyMessage", LocalizedText("Confirm that it's you with your passkey.", de: "Weisen Sie sich mit Ihrem Passkey aus."))
        browserTitle = text("browserTitle", LocalizedText("Continue in the browser", de: "Im Browser fortfahren"))
        browserMessage = text(
            "browserMessage", LocalizedText("Sign in on the page that has opened.", de: "Melden Sie sich auf der geöffneten Seite an."))
        lockedTitle = text("lockedTitle", LocalizedText("Locked", de: "Gesperrt"))
        lockedMessage = text("lockedMessage", LocalizedText("Unlock to continue.", de: "Entsperren Sie, um fortzufahren."))
        unlock = text("unlock", LocalizedText("Unlock", de: "Entsperren"))
        signOut = text("signOut", LocalizedText("Sign out", de: "Abmelden"))
        tryAnotherWay = text("tryAnotherWay", LocalizedText("Try another way", de: "Andere Methode wählen"))
        cancel = text("cancel", LocalizedText("Cancel", de: "Abbrechen"))
        problems = Problems(text)
        requests = Requests(text)
    }
}

extension SignInTexts {
    /// Returns the list entry of a second factor; its name for an unknown factor.
    public func name(of factor: SignInFactor) -> String {
        switch factor {
        case .push: push
        case .authenticatorCode: authenticatorCode
        case .textMessage: textMessage
        case .call: call
        case .passkey: passkey
        case .recoveryCode: recoveryCode
        default: factor.rawValue
        }
    }

    /// Returns the title of a step.
    public func title(of step: SignInStep) -> String {
        switch step.kind {
        case .factors: factorsTitle
        case .push: pushTitle
        case .code: codeTitle
        case .passkey: passkeyTitle
        case .browser: browserTitle
        default: title
        }
    }

    /// Returns the instruction of a step; `nil` for none.
    public func message(of step: SignInStep) -> String? {
        switch (step.kind, step.factor) {
        case (.factors, _): factorsMessage
        case (.push, _): step.number == nil ? pushMessage : pushNumber
        case (.code, .textMessage?): textMessageMessage
        case (.code, .call?): callMessage
        case (.code, .recoveryCode?): recoveryCodeMessage
        case (.code, _): authenticatorCodeMessage
        case (.passkey, _): passkeyMessage
        case (.browser, _): browserMessage
        default: nil
        }
    }

    /// Returns the title of a screen for a state: that of the step, or that of a locked device.
    public func title(of state: SignInState) -> String {
        switch state {
        case .signingIn(let step): title(of: step)
        case .locked: lockedTitle
        case .signedOut, .signedIn, .offline, .expired: title
        }
    }

    /// Returns the instruction of a screen for a state; `nil` for none.
    public func message(of state: SignInState) -> String? {
        switch state {
        case .signingIn(let step): message(of: step)
        case .locked: lockedMessage
        case .expired: sessionEnded
        case .signedOut, .signedIn, .offline: nil
        }
    }

    /// Returns the text that VoiceOver speaks for the number of a push.
    func spoken(number: String) -> String { pushNumberSpoken.replacing("%@", with: number) }
}
