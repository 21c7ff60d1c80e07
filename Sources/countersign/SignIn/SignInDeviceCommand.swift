import ArgumentParser
import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth

/// Signs the user in through another device's browser (RFC 8628).
struct SignInDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Sign in with another device's browser: for machines that have none.",
        discussion: """
            An address and a code are shown, and the address once more as a QR code for a phone's camera. Open it wherever you like, sign in \
            there, and allow the device. This command waits for you meanwhile. Ctrl-C gives up; the exit code is 130.

            The QR code is left out where no terminal shows it, or a terminal that is too narrow; the variable COLUMNS says how wide it is \
            if the terminal doesn't.

            With --json, the first line is {"status":"waiting","user_code":"…","verification_uri":"…","expires_in":600}, with the member \
            "verification_uri_complete" if there is one; the last line is the credential.
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var vault: VaultOptions

    @Option(
        help: ArgumentHelp(
            "How the QR code is drawn: auto, for terminals that know colours; dark or light, for the background of one that doesn't; never.",
            valueName: "how"))
    var qr = QRCodeDrawing.auto

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let configuration = try client.configuration()
            let (vault, notice, json) = (vault, DeviceNotice(drawing: qr), json)
            try await Interruption.cancels {
                try await vault.open {
                    let flow = DeviceAuthorizationFlow(client: OAuth2Client(configuration))
                    let verification = try await flow.start()
                    if json { Terminal.write(json: notice.json(verification)) } else { Terminal.note(notice.text(verification)) }
                    let waiting = ApprovalNotice(isQuiet: json)
                    let token = try await waiting.show("Waiting until you have signed in there") { try await flow.resume() }
                    try CredentialSummary.keep(token, json: json)
                }
            }
        }
    }
}
