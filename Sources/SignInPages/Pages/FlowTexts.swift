internal import Foundation

/// The texts about signing out and about signing in on a device without a browser; a part of ``PageTexts``.
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
    /// The sentence that names the account. `{login}` stands for the user name.
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
        signOutLeadOfApplication: "{app} wants to sign you out in this browser. Do you want to sign out?",
        signOut: "Sign out",
        staySignedIn: "To stay signed in, close this page.",
        signedOutTitle: "You are signed out",
        signedOut: "You are signed out in this browser. You may still be signed in to applications that you used.",
        activateTitle: "Connect a device",
        activateLead: "Enter the code that your device shows.",
        userCode: "Device code",
        next: "Next",
        wrongUserCode: "The code is wrong, expired or already used. Check your device and try again.",
        activationEnded: "The sign-in was cancelled or not allowed. The device is not connected.",
        deviceTitle: "Connect this device?",
        deviceLead: "{app} wants to sign you in on a device that shows this code:",
        deviceAccount: "You are signed in as {login}.",
        deviceWarning:
            "Continue only if you have the device with you and it shows this code now. Never confirm because a caller or a message asks you to.",
        allowDevice: "Connect",
        denyDevice: "Don't connect",
        deviceAllowedTitle: "Device connected",
        deviceAllowed: "Go back to your device. You can close this page.",
        deviceDeniedTitle: "Device not connected",
        deviceDenied: "You can close this page.")

    static let german = FlowTexts(
        signOutTitle: "Abmelden",
        signOutLead: "Möchten Sie sich in diesem Browser abmelden?",
        signOutLeadOfApplication: "{app} möchte Sie in diesem Browser abmelden. Möchten Sie sich abmelden?",
        signOut: "Abmelden",
        staySignedIn: "Um angemeldet zu bleiben, schließen Sie diese Seite.",
        signedOutTitle: "Sie sind abgemeldet",
        signedOut: "Sie sind in diesem Browser abgemeldet. In Anwendungen, die Sie benutzt haben, sind Sie möglicherweise noch angemeldet.",
        activateTitle: "Gerät verbinden",
        activateLead: "Geben Sie den Code ein, den Ihr Gerät zeigt.",
        userCode: "Gerätecode",
        next: "Weiter",
        wrongUserCode:
            "Der Code ist falsch, abgelaufen oder schon verwendet. Sehen Sie auf Ihrem Gerät nach und versuchen Sie es noch einmal.",
        activationEnded: "Die Anmeldung wurde abgebrochen oder nicht erlaubt. Das Gerät ist nicht verbunden.",
        deviceTitle: "Dieses Gerät verbinden?",
        deviceLead: "{app} möchte Sie auf einem Gerät anmelden, das diesen Code zeigt:",
        deviceAccount: "Sie sind angemeldet als {login}.",
        deviceWarning:
            "Fahren Sie nur fort, wenn Sie das Gerät bei sich haben und es jetzt diesen Code zeigt. Bestätigen Sie nie, weil ein Anruf oder eine Nachricht Sie dazu auffordert.",
        allowDevice: "Verbinden",
        denyDevice: "Nicht verbinden",
        deviceAllowedTitle: "Das Gerät ist verbunden",
        deviceAllowed: "Kehren Sie zu Ihrem Gerät zurück. Sie können diese Seite schließen.",
        deviceDeniedTitle: "Das Gerät ist nicht verbunden",
        deviceDenied: "Sie können diese Seite schließen.")
}

/// The translations of the security questions. The engine has only the English text.
enum QuestionTexts {
    /// Returns a question in a language, or in English if there is no translation.
    static func text(of key: String, english text: String, language: String) -> String {
        language == "de" ? german[key] ?? text : text
    }

    static let german = [
        "disliked_food": "Welches Essen haben Sie als Kind verweigert?",
        "name_of_first_plush_toy": "Wie hieß Ihr erstes Stofftier?",
        "first_award": "Was war der erste Preis, den Sie gewonnen haben?",
        "favorite_security_question": "Welche Sicherheitsfrage mögen Sie am liebsten?",
        "favorite_toy": "Welches Spielzeug war Ihnen als Kind das liebste?",
        "first_computer_game": "Welches Computerspiel haben Sie zuerst gespielt?",
        "favorite_movie_quote": "Welchen Satz aus einem Film zitieren Sie am häufigsten?",
        "first_sports_team_mascot": "Was war das Maskottchen der ersten Mannschaft, in der Sie gespielt haben?",
        "first_music_purchase": "Welche Platte oder welches Lied haben Sie zuerst gekauft?",
        "favorite_art_piece": "Welches Kunstwerk mögen Sie am liebsten?",
        "grandmother_favorite_desert": "Welchen Nachtisch mochte Ihre Großmutter am liebsten?",
        "first_thing_cooked": "Welches Gericht haben Sie zuerst kochen gelernt?",
        "childhood_dream_job": "Was wollten Sie als Kind werden?",
        "first_kiss_location": "Wo waren Sie bei Ihrem ersten Kuss?",
        "place_where_significant_other_was_met": "Wo haben Sie den Menschen kennengelernt, mit dem Sie Ihr Leben teilen?",
        "favorite_vacation_location": "Wo war Ihr schönster Urlaub?",
        "new_years_two_thousand": "Wo waren Sie, als das Jahr 2000 begann?",
        "favorite_speaker_actor": "Welche Rednerin oder welchen Schauspieler mögen Sie am liebsten?",
        "favorite_book_movie_character": "Welche Figur aus einem Buch oder Film mögen Sie am liebsten?",
        "favorite_sports_player": "Welche Sportlerin oder welchen Sportler mögen Sie am liebsten?",
    ]
}
