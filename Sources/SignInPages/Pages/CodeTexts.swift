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
    /// Also mentions the link in the mail.
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
    /// `{login}` stands for the user name; `{app}` for the application.
    var linkLead: String
    /// `{time}` stands for the time in UTC.
    var linkTime: String
    /// `{address}` stands for the IP address.
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
        email: "Send a mail to {place}",
        title: "Enter the code",
        smsLead: "A text message with a code was sent to {place}.",
        voiceLead: "{place} is called, and told a code.",
        emailLead: "A mail was sent to {place}. Enter its code, or open its link: then this page goes on by itself.",
        code: "Code that you received",
        codeHint: "Six digits, good for five minutes.",
        useCode: "Use the code",
        smsAgain: "Send another code",
        voiceAgain: "Call again",
        emailAgain: "Send another mail",
        other: "Choose another way",
        waiting: "Waiting for the link of the mail",
        setUpSMS: "Codes by text message",
        setUpVoice: "Codes by a call",
        setUpEmail: "Codes by mail",
        numberTitle: "Enter your number",
        numberLead: "Codes will be sent to this number when you sign in.",
        number: "Telephone number",
        numberHint: "With its calling code, such as +44 20 7946 0123.",
        firstSMS: "Send a code to it",
        firstVoice: "Call it with a code",
        mailboxLead: "A mail with a code was sent to {place}.",
        finish: "Finish",
        wrongNumber: "The number cannot be read. Write it with its calling code.",
        foreignNumber: "Nothing is sent to numbers of that country. Use another one.",
        linkTitle: "Is it you who signs in?",
        linkLead: "Somebody signs in to {app} as {login} and asked for this mail.",
        linkTime: "Time: {time}",
        linkAddress: "Network address: {address}",
        linkBrowser: "Browser: {browser}",
        linkWarning: "Confirm only if you are signing in yourself right now. Nobody who calls or writes to you needs this from you.",
        isMe: "Yes, it is me",
        isNotMe: "No, it is not me",
        confirmedTitle: "Confirmed",
        confirmed: "Go back to the page on which you sign in. It goes on by itself. You can close this one.",
        deniedTitle: "Not confirmed",
        denied: "The code of this mail is good for nothing now. Somebody may know your password: change it.")

    static let german = CodeTexts(
        sms: "SMS an {place} senden",
        voice: "{place} anrufen",
        email: "E-Mail an {place} senden",
        title: "Code eingeben",
        smsLead: "Eine SMS mit einem Code ging an {place}.",
        voiceLead: "{place} wird angerufen und bekommt einen Code angesagt.",
        emailLead:
            "Eine E-Mail ging an {place}. Geben Sie ihren Code ein oder öffnen Sie ihren Link: dann geht diese Seite von selbst weiter.",
        code: "Code, den Sie bekommen haben",
        codeHint: "Sechs Ziffern, fünf Minuten gültig.",
        useCode: "Code verwenden",
        smsAgain: "Anderen Code senden",
        voiceAgain: "Noch einmal anrufen",
        emailAgain: "Noch eine E-Mail senden",
        other: "Etwas anderes wählen",
        waiting: "Warten auf den Link der E-Mail",
        setUpSMS: "Codes per SMS",
        setUpVoice: "Codes per Anruf",
        setUpEmail: "Codes per E-Mail",
        numberTitle: "Nummer eingeben",
        numberLead: "Wenn Sie sich anmelden, gehen Codes an diese Nummer.",
        number: "Telefonnummer",
        numberHint: "Mit Landesvorwahl, etwa +49 30 5550123.",
        firstSMS: "Code an sie senden",
        firstVoice: "Mit einem Code anrufen",
        mailboxLead: "Eine E-Mail mit einem Code ging an {place}.",
        finish: "Fertig",
        wrongNumber: "Die Nummer kann nicht gelesen werden. Schreiben Sie sie mit der Landesvorwahl.",
        foreignNumber: "An Nummern dieses Landes wird nichts gesendet. Nehmen Sie eine andere.",
        linkTitle: "Melden Sie sich gerade an?",
        linkLead: "Jemand meldet sich bei {app} als {login} an und hat diese E-Mail angefordert.",
        linkTime: "Zeit: {time}",
        linkAddress: "Adresse im Netz: {address}",
        linkBrowser: "Verwendeter Browser: {browser}",
        linkWarning:
            "Bestätigen Sie nur, wenn Sie sich gerade selbst anmelden. Niemand, der Sie anruft oder Ihnen schreibt, braucht das von Ihnen.",
        isMe: "Ja, ich bin es",
        isNotMe: "Nein, ich bin es nicht",
        confirmedTitle: "Bestätigt",
        confirmed: "Gehen Sie zurück zur Seite, auf der Sie sich anmelden. Sie geht von selbst weiter. Diese können Sie schließen.",
        deniedTitle: "Nicht bestätigt",
        denied: "Der Code dieser E-Mail gilt nicht mehr. Vielleicht kennt jemand Ihr Passwort: Ändern Sie es.")

    func lead(_ channel: CodeChannel) -> String {
        switch channel {
        case .sms: smsLead
        case .voice: voiceLead
        case .email: emailLead
        }
    }

    /// The label of the button that sends another code.
    func again(_ channel: CodeChannel) -> String {
        switch channel {
        case .sms: smsAgain
        case .voice: voiceAgain
        case .email: emailAgain
        }
    }

    /// The label of the button that starts the enrolment of a channel.
    func setUp(_ channel: CodeChannel) -> String {
        switch channel {
        case .sms: setUpSMS
        case .voice: setUpVoice
        case .email: setUpEmail
        }
    }

    /// The label of the button that sends the first code to a phone.
    func first(_ channel: CodeChannel) -> String { channel == .voice ? firstVoice : firstSMS }

    /// The lines about the origin of the sign-in, on the page of a link.
    func origin(_ question: MailLinkQuestion) -> [String] {
        [
            linkTime.replacing("{time}", with: question.sentAt.formatted(.iso8601.dateTimeSeparator(.space))),
            question.address.map { linkAddress.replacing("{address}", with: $0) },
            question.userAgent.map { linkBrowser.replacing("{browser}", with: $0) },
        ].compactMap { $0 }
    }
}
