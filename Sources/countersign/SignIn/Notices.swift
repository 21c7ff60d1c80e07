import ArgumentParser
import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth
import QRCode

/// The style of QR codes in a terminal.
enum QRCodeDrawing: String, ExpressibleByArgument, Sendable {
    case auto, dark, light, never

    /// The colours for the terminal to which notes are written; `nil` to show no QR code.
    var colors: QRSymbol.TerminalColors? {
        switch self {
        case .auto: Terminal.notesAreSeen ? .escapeSequences : nil
        case .dark: .darkBackground
        case .light: .lightBackground
        case .never: nil
        }
    }

    /// Returns a text as a QR code; `nil` if QR codes are disabled, or if the QR code is wider than `columns`.
    func symbol(of text: String, columns: Int = Terminal.noteColumns) -> String? {
        // Low error correction makes the symbol small, so that it fits more terminals. A screen needs little error correction.
        guard let colors, let symbol = try? QRSymbol(text, errorCorrection: .low) else { return nil }
        return [4, 2].lazy.filter { symbol.size + 2 * $0 <= columns }.first.map { symbol.terminalText(colors: colors, quietZone: $0) }
    }
}

/// The notice with the address and the code for a sign-in on another device.
struct DeviceNotice: Sendable {
    var drawing = QRCodeDrawing.auto
    /// The width of a line in characters.
    var columns = Terminal.noteColumns

    func text(_ verification: DeviceAuthorizationFlow.Verification) -> TerminalText {
        let address = verification.verificationUri.absoluteString
        let code = Terminal.styledNote("\(verification.userCode)", .bold)
        let symbol = qrCode(of: verification)
        let opening = symbol == nil ? "Open this address in any browser" : "Open this address in any browser, or scan the QR code"
        let text: TerminalText = """
            \(opening), on your phone for example:

                \(address)

            Enter this code there. A page that already shows a code must show this one:

                \(code)

            """
        return text + .own(symbol.map { "\n" + $0 } ?? "")
    }

    func json(_ verification: DeviceAuthorizationFlow.Verification) -> JSONValue {
        var json: JSONValue = [
            "status": "waiting", "user_code": .string(verification.userCode),
            "verification_uri": .string(verification.verificationUri.absoluteString),
            "expires_in": .integer(Int64(clamping: verification.expiresIn)),
        ]
        json["verification_uri_complete"] = verification.verificationUriComplete.map { .string($0.absoluteString) }
        return json
    }

    /// Returns the address, with the code if possible, as a QR code; `nil` if the QR code cannot be drawn.
    private func qrCode(of verification: DeviceAuthorizationFlow.Verification) -> String? {
        let address = verification.verificationUriComplete ?? verification.verificationUri
        return drawing.symbol(of: address.absoluteString, columns: columns)
    }
}

/// A notice that is shown while a sign-in waits for the user.
struct ApprovalNotice: Sendable {
    private static let wheel = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    /// Whether to write a JSON object instead, for scripts.
    var json = false
    /// Whether to show nothing.
    var isQuiet = false
    /// Whether to animate the line. Must be `false` if other output is written at the same time.
    var isMoving = Terminal.notesAreSeen

    /// Shows a notice while `work` waits for the phone. `number` is the number that the user picks on the phone; `nil` if an
    /// approval is enough.
    func show<Result: Sendable>(number: String?, _ work: () async throws -> Result) async throws -> Result {
        if json, !isQuiet {
            var line: JSONValue = ["status": "waiting", "channel": "push"]
            line["number"] = number.map(JSONValue.string)
            Terminal.write(json: line)
            return try await work()
        }
        return try await show(text(number: number), work)
    }

    /// Shows a notice while `work` waits. `text` must not end with a full stop.
    func show<Result: Sendable>(_ text: TerminalText, _ work: () async throws -> Result) async throws -> Result {
        guard !isQuiet else { return try await work() }
        guard isMoving else {
            Terminal.note("\(text).")
            return try await work()
        }
        let movement = Task {
            for tick in 0... {
                let time = Terminal.styledNote("\(tick / 4) s, Ctrl-C cancels", .dim)
                Terminal.rewriteNote("\(Self.wheel[tick % Self.wheel.count]) \(text) … (\(time))")
                do { try await TerminalClock.sleep(for: .milliseconds(250)) } catch { return }
            }
        }
        let result = await Swift.Result(of: work)
        movement.cancel()
        await movement.value
        Terminal.rewriteNote("\(text).\n")
        return try result.get()
    }

    private func text(number: String?) -> TerminalText {
        guard let number else { return "Waiting for your approval on your phone" }
        return "Pick the number \(Terminal.styledNote("\(number)", .bold)) on your phone"
    }
}
