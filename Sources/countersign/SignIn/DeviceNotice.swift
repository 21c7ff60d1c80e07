import ArgumentParser
import Foundation
import JOSE
import OAuth2Auth
import QRCode

/// Whether and how a terminal shows QR codes.
enum QRCodeDrawing: String, ExpressibleByArgument, Sendable {
    case auto, dark, light, never

    /// What the terminal of the notes can show; nil for no QR code.
    var colors: QRSymbol.TerminalColors? {
        switch self {
        case .auto: Terminal.notesAreSeen ? .escapeSequences : nil
        case .dark: .darkBackground
        case .light: .lightBackground
        case .never: nil
        }
    }

    /// A text as a QR code; nil where it can't be drawn in so many columns.
    func symbol(of text: String, columns: Int = Terminal.noteColumns) -> String? {
        // Little error correction: nothing covers a screen, and a small symbol fits more terminals.
        guard let colors, let symbol = try? QRSymbol(text, errorCorrection: .low) else { return nil }
        return [4, 2].lazy.filter { symbol.size + 2 * $0 <= columns }.first.map { symbol.terminalText(colors: colors, quietZone: $0) }
    }
}

/// Tells a person where to sign in for this machine, and with which code.
struct DeviceNotice: Sendable {
    var drawing = QRCodeDrawing.auto
    /// How many characters a line has.
    var columns = Terminal.noteColumns

    /// What a person reads.
    func text(_ verification: DeviceAuthorizationFlow.Verification) -> TerminalText {
        let address = verification.verificationUri.absoluteString
        let code = Terminal.styledNote("\(verification.userCode)", .bold)
        let symbol = qrCode(of: verification)
        let opening = symbol == nil ? "Open this address in any browser" : "Open this address in any browser, or scan the QR code"
        let text: TerminalText = """
            \(opening), on your phone for example:

                \(address)

            Type this code there; a page that shows a code already must show this one:

                \(code)

            """
        return text + .own(symbol.map { "\n" + $0 } ?? "")
    }

    /// What a script reads.
    func json(_ verification: DeviceAuthorizationFlow.Verification) -> JSONValue {
        var json: JSONValue = [
            "status": "waiting", "user_code": .string(verification.userCode),
            "verification_uri": .string(verification.verificationUri.absoluteString),
            "expires_in": .integer(Int64(clamping: verification.expiresIn)),
        ]
        json["verification_uri_complete"] = verification.verificationUriComplete.map { .string($0.absoluteString) }
        return json
    }

    /// The address with the code in it, so that nothing has to be typed; nil where it can't be drawn.
    private func qrCode(of verification: DeviceAuthorizationFlow.Verification) -> String? {
        let address = verification.verificationUriComplete ?? verification.verificationUri
        return drawing.symbol(of: address.absoluteString, columns: columns)
    }
}
