internal import Foundation

/// The texts about the enrolment of a phone; a part of ``PageTexts``. `{app}` stands for the app on the phone.
struct PhoneTexts: Sendable {
    var chooseTitle: String
    /// `{app}` is the application of the sign-in.
    var chooseLead: String
    var begin: String
    /// Used if there are several apps.
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
        begin: "Confirm sign-ins on a phone",
        beginWith: "Confirm sign-ins on a phone with {app}",
        beginApp: "An app that shows codes",
        title: "Set up your phone",
        lead: "Open {app} on your phone, and scan this picture with it. The code is good once, for ten minutes at most.",
        picture: "QR code for your phone",
        byHand: "I cannot scan it",
        waiting: "Waiting for your phone",
        taken: "Your phone has scanned the code and is being set up.",
        another: "Show another code",
        done: "Set up. One moment.",
        hereTitle: "Scan this with the app",
        here:
            "This code is for {app}. Open that app on your phone, and scan the picture on the sign-in page with it. There is nothing to do on this page."
    )

    static let german = PhoneTexts(
        chooseTitle: "Zweiten Faktor einrichten",
        chooseLead: "{app} verlangt einen zweiten Faktor, und Sie haben noch keinen. Wählen Sie, was Sie einrichten.",
        begin: "Anmeldungen am Telefon bestätigen",
        beginWith: "Anmeldungen am Telefon mit {app} bestätigen",
        beginApp: "Eine App, die Codes zeigt",
        title: "Telefon einrichten",
        lead: "Öffnen Sie {app} auf Ihrem Telefon und scannen Sie damit dieses Bild. Der Code gilt einmal, höchstens zehn Minuten.",
        picture: "QR-Code für Ihr Telefon",
        byHand: "Ich kann es nicht scannen",
        waiting: "Warten auf Ihr Telefon",
        taken: "Ihr Telefon hat den Code gescannt und wird eingerichtet.",
        another: "Anderen Code zeigen",
        done: "Eingerichtet. Einen Moment.",
        hereTitle: "Mit der App scannen",
        here:
            "Dieser Code ist für {app}. Öffnen Sie diese App auf Ihrem Telefon und scannen Sie damit das Bild auf der Anmeldeseite. Auf dieser Seite ist nichts zu tun."
    )
}
