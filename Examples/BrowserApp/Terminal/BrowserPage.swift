import Foundation
import Observation

/// The page that the user must open in a browser, because the app does not open it.
@Observable
@MainActor
final class BrowserPage {
    /// The address of the page; `nil` if there is no page to open.
    private(set) var address: String?

    func show(_ url: URL) { address = url.absoluteString }

    func hide() { address = nil }
}
