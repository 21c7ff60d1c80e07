internal import Foundation
internal import IdentityCore

/// The texts about sent codes and mailed links; a part of ``PageTexts``. `{place}` stands for a masked phone number or mail address.
struct CodeTexts: Sendable {
    var sms: String
    var voice: String
    var email: String

    var title: String
    var smsLead: String
    var voiceLead: String
    /// The introduction of the page for a mailed code. It also mentions the link in the mail.
    var emailLead: String
    var code: String
    var codeHint: String
    var useCode: String
    var smsAgain: String
    var voiceAgain: String
    var emailAgain: String
    var other: String
    var waiting: String

    var setUpSMS: String
    var setUpVoice: String
    var setUpEmail: String
    var numberTitle: String
    var numberLead: String
    var number: String
    var numberHint: String
    var firstSMS: String
    var firstVoice: String
    var mailboxLead: String
    var finish: String
    var wrongNumber: String
    var foreignNumber: String

    var linkTitle: String
    /// The introduction of the page of a mailed link. `{login}` stands for the user name, `{app}` for the application.
    var linkLead: String
    /// The line with the time of the sign-in. `{time}` stands for the date and time in UTC, because the server does not know the reader's
    /// time zone.
    var linkTime: String
    /// The line with the address of the sign-in. `{address}` stands for the IP address.
    var linkAddress: String
    var linkBrowser: String
    var linkWarning: String
    var isMe: String
    var isNotMe: String
    var confirmedTitle: String
    var confirmed: String
    var deniedTitle: String
    var denied: String
}

extension CodeTexts {
    static let english = CodeTexts(
        sms: "Send a text message to {place}",
        voice: "Call {place}",
        email: "Send an email to {place}",
        title: "Enter the code",
        smsLead: "A text message with a code was sent to {place}.",
        voiceLead: "You will get a call at {place} with a code.",
        emailLead: "We sent an email to {place}. Enter its code, or open its link. This page then continues automatically.",
        code: "Code you received",
        codeHint: "Six digits, valid for five minutes.",
        useCode: "Verify",
        smsAgain: "Resend code",
        voiceAgain: "Call again",
        emailAgain: "Resend email",
        other: "Try another way",
        waiting: "Waiting for you to open the link in the email",
        setUpSMS: "Text message",
        setUpVoice: "Phone call",
        setUpEmail: "Email code",
        numberTitle: "Enter your number",
        numberLead: "Codes will be sent to this number when you sign in.",
        number: "Phone number",
        numberHint: "With country code, such as +44 20 7946 0123.",
        firstSMS: "Send code",
        firstVoice: "Call me",
        mailboxLead: "We sent an email with a code to {place}.",
        finish: "Finish",
        wrongNumber: "This is not a valid phone number. Include the country code.",
        foreignNumber: "Numbers of this country are not supported. Use another number.",
        linkTitle: "Are you trying to sign in?",
        linkLead: "A sign-in to {app} as {login} requested this email.",
        linkTime: "Time: {time} UTC",
        linkAddress: "IP address: {address}",
        linkBrowser: "Browser: {browser}",
        linkWarning: "Confirm only if you are signing in right now. Never confirm because a caller or a message asks you to.",
        isMe: "Yes, it's me",
        isNotMe: "No, it's not me",
        confirmedTitle: "Confirmed",
        confirmed: "Go back to the sign-in page. It continues automatically. You can close this page.",
        deniedTitle: "Not confirmed",
        denied: "The code in this email no longer works. Someone may know your password. Change it.")

    static let german = CodeTexts(
        sms: "SMS an {place} senden",
        voice: "{place} anrufen",
        email: "E-Mail an {place} senden",
        title: "Code eingeben",
        smsLead: "Wir haben eine SMS mit einem Code an {place} gesendet.",
        voiceLead: "Sie erhalten unter {place} einen Anruf mit einem Code.",
        emailLead:
            "Wir haben eine E-Mail an {place} gesendet. Geben Sie den Code daraus ein oder öffnen Sie den Link. Diese Seite wird dann automatisch fortgesetzt.",
        code: "Erhaltener Code",
        codeHint: "Sechs Ziffern, fünf Minuten gültig.",
        useCode: "Bestätigen",
        smsAgain: "Code erneut senden",
        voiceAgain: "Erneut anrufen",
        emailAgain: "E-Mail erneut senden",
        other: "Andere Option wählen",
        waiting: "Warten, bis Sie den Link in der E-Mail öffnen",
        setUpSMS: "Codes per SMS",
        setUpVoice: "Codes per Anruf",
        setUpEmail: "Codes per E-Mail",
        numberTitle: "Nummer eingeben",
        numberLead: "Wenn Sie sich anmelden, senden wir Codes an diese Nummer.",
        number: "Telefonnummer",
        numberHint: "Mit Landesvorwahl, etwa +49 30 5550123.",
        firstSMS: "Code senden",
        firstVoice: "Mich anrufen",
        mailboxLead: "Wir haben eine E-Mail mit einem Code an {place} gesendet.",
        finish: "Fertig",
        wrongNumber: "Das ist keine gültige Telefonnummer. Geben Sie sie mit Landesvorwahl an.",
        foreignNumber: "Nummern dieses Landes werden nicht unterstützt. Verwenden Sie eine andere.",
        linkTitle: "Melden Sie sich gerade an?",
        linkLead: "Bei einer Anmeldung bei {app} als {login} wurde diese E-Mail angefordert.",
        linkTime: "Zeit: {time} UTC",
        linkAddress: "IP-Adresse: {address}",
        linkBrowser: "Browser: {browser}",
        linkWarning:
            "Bestätigen Sie nur, wenn Sie sich gerade selbst anmelden. Bestätigen Sie nie, weil ein Anruf oder eine Nachricht Sie dazu auffordert.",
        isMe: "Ja, ich bin es",
        isNotMe: "Nein, ich bin es nicht",
        confirmedTitle: "Bestätigt",
        confirmed: "Kehren Sie zur Anmeldeseite zurück. Sie wird automatisch fortgesetzt. Diese Seite können Sie schließen.",
        deniedTitle: "Nicht bestätigt",
        denied: "Der Code dieser E-Mail gilt nicht mehr. Möglicherweise kennt jemand Ihr Passwort. Ändern Sie es.")

    func lead(_ channel: CodeChannel) -> String {
        switch channel {
        case .sms: smsLead
        case .voice: voiceLead
        case .email: emailLead
        }
    }

    /// Returns the label of the button that sends another code.
    func again(_ channel: CodeChannel) -> String {
        switch channel {
        case .sms: smsAgain
        case .voice: voiceAgain
        case .email: emailAgain
        }
    }

    /// Returns the label of the button that starts the enrollment of a channel.
    func setUp(_ channel: CodeChannel) -> String {
        switch channel {
        case .sms: setUpSMS
        case .voice: setUpVoice
        case .email: setUpEmail
        }
    }

    /// Returns the label of the button that sends the first code to a phone.
    func first(_ channel: CodeChannel) -> String { channel == .voice ? firstVoice : firstSMS }

    /// Returns the lines about the origin of the sign-in, for the page of a mailed link. `language` selects the date format.
    func origin(_ question: MailLinkQuestion, language: String) -> [String] {
        let style = Date.FormatStyle(date: .long, time: .shortened, locale: Locale(identifier: language), timeZone: .gmt)
        return [
            linkTime.replacing("{time}", with: question.sentAt.formatted(style)),
            question.address.map { linkAddress.replacing("{address}", with: $0) },
            question.userAgent.map { linkBrowser.replacing("{browser}", with: $0) },
        ].compactMap { $0 }
    }
}
