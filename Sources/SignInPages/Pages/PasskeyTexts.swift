internal import Foundation

/// The texts about passkeys; a part of ``PageTexts``. `{app}` stands for the application's name.
struct PasskeyTexts: Sendable {
    /// The label of the button on the first page.
    var signIn: String
    /// The label of the button among the second factors.
    var use: String
    var title: String
    var lead: String
    var button: String
    /// The label of the button among the factors to set up.
    var setUp: String
    /// The introduction of the page of setup if only a passkey is accepted.
    var requiredLead: String
    var createTitle: String
    var createLead: String
    var create: String
    var needsScript: String
    var unsupported: String
    /// The message after the user closed the browser's dialog, or after its timeout.
    var cancelled: String
    var failed: String
    var wrong: String
    var createCancelled: String
    /// The message if the authenticator has a passkey of the account already.
    var exists: String
    var createFailed: String
    var notCreated: String
}

extension PasskeyTexts {
    static let english = PasskeyTexts(
        signIn: "Sign in with a passkey",
        use: "Use your passkey",
        title: "Use your passkey",
        lead: "Confirm with your fingerprint, face, screen lock or security key.",
        button: "Continue",
        setUp: "Passkey",
        requiredLead: "{app} requires a passkey. Create one to continue.",
        createTitle: "Create a passkey",
        createLead: "With a passkey, you sign in with your fingerprint, face, screen lock or security key.",
        create: "Create a passkey",
        needsScript: "Passkeys need JavaScript. Turn it on in your browser and reload this page.",
        unsupported: "This browser does not support passkeys. Use another browser or device.",
        cancelled: "The passkey request was cancelled or timed out. Try again.",
        failed: "Your browser could not use the passkey. Try again.",
        wrong: "Your passkey was not accepted. Try again, or sign in another way.",
        createCancelled: "No passkey was created. Try again.",
        exists: "This device already has a passkey for your account.",
        createFailed: "Your browser could not create the passkey. Try again.",
        notCreated: "The passkey could not be saved. Try again.")

    static let german = PasskeyTexts(
        signIn: "Mit Passkey anmelden",
        use: "Passkey verwenden",
        title: "Passkey verwenden",
        lead: "Bestätigen Sie mit Fingerabdruck, Gesicht, Displaysperre oder Sicherheitsschlüssel.",
        button: "Weiter",
        setUp: "Passkey",
        requiredLead: "{app} erfordert einen Passkey. Erstellen Sie einen, um fortzufahren.",
        createTitle: "Passkey erstellen",
        createLead: "Mit einem Passkey melden Sie sich per Fingerabdruck, Gesicht, Displaysperre oder Sicherheitsschlüssel an.",
        create: "Passkey erstellen",
        needsScript: "Passkeys benötigen JavaScript. Aktivieren Sie es im Browser und laden Sie diese Seite neu.",
        unsupported: "Dieser Browser unterstützt keine Passkeys. Verwenden Sie einen anderen Browser oder ein anderes Gerät.",
        cancelled: "Die Passkey-Abfrage wurde abgebrochen oder ist abgelaufen. Versuchen Sie es noch einmal.",
        failed: "Der Browser konnte den Passkey nicht verwenden. Versuchen Sie es noch einmal.",
        wrong: "Ihr Passkey wurde nicht akzeptiert. Versuchen Sie es noch einmal, oder melden Sie sich auf andere Weise an.",
        createCancelled: "Es wurde kein Passkey erstellt. Versuchen Sie es noch einmal.",
        exists: "Auf diesem Gerät gibt es schon einen Passkey für Ihr Konto.",
        createFailed: "Der Browser konnte den Passkey nicht erstellen. Versuchen Sie es noch einmal.",
        notCreated: "Der Passkey konnte nicht gespeichert werden. Versuchen Sie es noch einmal.")
}
