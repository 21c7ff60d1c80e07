/// The sentences of signing out, and of signing in for a device that has no browser; a part of ``PageTexts``.
struct FlowTexts: Sendable {
    var signOutTitle: String
    var signOutLead: String
    var signOutLeadOfApplication: String
    var signOut: String
    var staySignedIn: String
    var signedOutTitle: String
    var signedOut: String

    var activateTitle: String
    var activateLead: String
    var userCode: String
    var next: String
    var wrongUserCode: String
    var activationEnded: String
    var deviceTitle: String
    var deviceLead: String
    /// `{login}` stands for who is signed in.
    var deviceAccount: String
    var deviceWarning: String
    var allowDevice: String
    var denyDevice: String
    var deviceAllowedTitle: String
    var deviceAllowed: String
    var deviceDeniedTitle: String
    var deviceDenied: String
}

extension FlowTexts {
    static let english = FlowTexts(
        signOutTitle: "Sign out",
        signOutLead: "Do you want to sign out in this browser?",
        signOutLeadOfApplication: "{app} asks to sign you out in this browser. Do you want that?",
        signOut: "Sign out",
        staySignedIn: "To stay signed in, close this page.",
        signedOutTitle: "You are signed out",
        signedOut: "You are signed out in this browser. Applications that you used may keep you signed in for themselves.",
        activateTitle: "Connect a device",
        activateLead: "Enter the code that your device shows.",
        userCode: "Code of the device",
        next: "Next",
        wrongUserCode: "The code is wrong, too old, or was used. Look at your device and try again.",
        activationEnded: "The sign-in was cancelled or not allowed. The device is not connected.",
        deviceTitle: "Connect this device?",
        deviceLead: "{app} wants to sign you in on a device that shows this code:",
        deviceAccount: "You are signed in as {login}.",
        deviceWarning:
            "Go on only if you hold the device yourself, and it shows this code now. Nobody who calls or writes to you needs this from you.",
        allowDevice: "Connect",
        denyDevice: "Do not connect",
        deviceAllowedTitle: "The device is connected",
        deviceAllowed: "Go back to your device. You can close this page.",
        deviceDeniedTitle: "The device is not connected",
        deviceDenied: "The device was told so. You can close this page.")

    static let german = FlowTexts(
        signOutTitle: "Abmelden",
        signOutLead: "Möchten Sie sich in diesem Browser abmelden?",
        signOutLeadOfApplication: "{app} möchte Sie in diesem Browser abmelden. Möchten Sie das?",
        signOut: "Abmelden",
        staySignedIn: "Um angemeldet zu bleiben, schließen Sie diese Seite.",
        signedOutTitle: "Sie sind abgemeldet",
        signedOut: "Sie sind in diesem Browser abgemeldet. Anwendungen, die Sie benutzt haben, können Sie selbst angemeldet lassen.",
        activateTitle: "Gerät verbinden",
        activateLead: "Geben Sie den Code ein, den Ihr Gerät zeigt.",
        userCode: "Code des Geräts",
        next: "Weiter",
        wrongUserCode: "Der Code ist falsch, zu alt oder wurde schon verwendet. Sehen Sie auf Ihr Gerät und versuchen Sie es noch einmal.",
        activationEnded: "Die Anmeldung wurde abgebrochen oder nicht erlaubt. Das Gerät ist nicht verbunden.",
        deviceTitle: "Dieses Gerät verbinden?",
        deviceLead: "{app} möchte Sie auf einem Gerät anmelden, das diesen Code zeigt:",
        deviceAccount: "Sie sind angemeldet als {login}.",
        deviceWarning:
            "Machen Sie nur weiter, wenn Sie das Gerät selbst in der Hand haben und es jetzt diesen Code zeigt. Niemand, der Sie anruft oder Ihnen schreibt, braucht das von Ihnen.",
        allowDevice: "Verbinden",
        denyDevice: "Nicht verbinden",
        deviceAllowedTitle: "Das Gerät ist verbunden",
        deviceAllowed: "Kehren Sie zu Ihrem Gerät zurück. Sie können diese Seite schließen.",
        deviceDeniedTitle: "Das Gerät ist nicht verbunden",
        deviceDenied: "Das Gerät weiß es. Sie können diese Seite schließen.")
}
