internal import Foundation

/// The texts about the enrollment of a phone; a part of ``PageTexts``. `{app}` stands for the app on the phone, except in ``chooseLead``.
struct PhoneTexts: Sendable {
    var chooseTitle: String
    /// The introduction of the page. `{app}` stands for the application of the sign-in.
    var chooseLead: String
    var begin: String
    /// The label of the button for each app after the first one.
    var beginWith: String
    var beginApp: String
    var title: String
    var lead: String
    /// The name of the QR code for screen readers.
    var picture: String
    var byHand: String
    var waiting: String
    var taken: String
    var another: String
    var done: String
    var hereTitle: String
    var here: String
}

extension PhoneTexts {
    static let english = PhoneTexts(
        chooseTitle: "Set up a second factor",
        chooseLead: "{app} asks for a second factor, and you have none yet. Choose one to set up.",
        begin: "Approve sign-ins on your phone",
        beginWith: "Approve sign-ins with {app}",
        beginApp: "Authenticator app",
        title: "Set up your phone",
        lead: "Open {app} on your phone and scan this QR code. The code works once and is valid for ten minutes.",
        picture: "QR code for your phone",
        byHand: "Can't scan the code?",
        waiting: "Waiting for your phone",
        taken: "Your phone has scanned the code and is being set up.",
        another: "Show a new code",
        done: "Set up. One moment.",
        hereTitle: "Scan the code with the app",
        here:
            "This code is for {app}. Open {app} on your phone and scan the QR code on the sign-in page. You can close this page."
    )

    static let german = PhoneTexts(
        chooseTitle: "Zweiten Faktor einrichten",
        chooseLead: "{app} verlangt einen zweiten Faktor, und Sie haben noch keinen. Wählen Sie, was Sie einrichten.",
        begin: "Anmeldungen am Telefon bestätigen",
        beginWith: "Anmeldungen mit {app} bestätigen",
        beginApp: "Authenticator-App",
        title: "Telefon einrichten",
        lead: "Öffnen Sie {app} auf Ihrem Telefon und scannen Sie diesen QR-Code. Er funktioniert einmal und ist zehn Minuten gültig.",
        picture: "QR-Code für Ihr Telefon",
        byHand: "Sie können den Code nicht scannen?",
        waiting: "Warten auf Ihr Telefon",
        taken: "Ihr Telefon hat den Code gescannt und wird eingerichtet.",
        another: "Neuen Code zeigen",
        done: "Eingerichtet. Einen Moment.",
        hereTitle: "Mit der App scannen",
        here:
            "Dieser Code ist für {app}. Öffnen Sie {app} auf Ihrem Telefon und scannen Sie den QR-Code auf der Anmeldeseite. Diese Seite können Sie schließen."
    )
}
