import Foundation
import Observation
import Wording

@testable import TerminalKit

/// A screen with every kind of element.
@MainActor
@Observable
final class SampleModel {
    var name = ""
    var secret = ""
    var isOn = false
    var isBusy = false
    var text = ""
    var alert: String?
    var log: [String] = []

    var screen: Screen {
        Screen(
            "Sample", back: .init("Back") { self.log.append("back") },
            alert: alert.map { text in
                .init("Alert", message: text) {
                    Button("Yes") { self.log.append("yes") }
                    Button("No") { self.alert = nil }
                }
            }
        ) {
            Element.field("Name", text: name, set: { self.name = $0 })
            Element.secureField("Secret", text: secret, set: { self.secret = $0 }, submit: { self.log.append("submit") })
            Element.toggle("Switch", isOn: isOn, set: { self.isOn = $0 })
            if isBusy { Element.progress("Busy") }
            Element.text(text, .error)
            Element.buttons {
                Button("Go", key: "g", isEnabled: !name.isEmpty && !isBusy) { self.log.append("go") }
                Button("Stop", key: "s", role: .destructive) { self.log.append("stop") }
            }
            Element.list("list", rows: [.init("One"), .init("Two", detail: "the second")]) { self.log.append("row \($0)") }
        }
    }
}

@MainActor
func stage(_ model: SampleModel, size: TerminalSize = .standard) -> Stage {
    Stage(size: size, wording: Wording(bundle: .main, language: "en"), changed: {}, makeScreen: { model.screen })
}

extension Stage {
    var lines: [String] { frame.canvas.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    func press(_ keys: Key...) {
        for key in keys { _ = press(key, tick: nil) }
    }

    func type(_ text: String) {
        for character in text { press(.character(character)) }
    }
}
