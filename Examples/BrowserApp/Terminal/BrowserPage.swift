import Foundation
import Observation

/// The address that the browser is sent to, where the app does not open the browser itself.
@Observable
@MainActor
final class BrowserPage {
    /// Nil while there is none.
    private(set) var address: String?

    func show(_ url: URL) { address = url.absoluteString }

    func hide() { address = nil }
}
