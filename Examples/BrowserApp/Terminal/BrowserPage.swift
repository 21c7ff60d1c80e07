import Foundation
import Observation

/// The address that the user must open in a browser, when the app does not open it.
@Observable
@MainActor
final class BrowserPage {
    /// The address; `nil` while there is none.
    private(set) var address: String?

    func show(_ url: URL) { address = url.absoluteString }

    func hide() { address = nil }
}
