import BrowserApp
import SwiftUI

/// The app with a window. The settings are in `Okta.plist`.
@main
struct Browser: App {
    var body: some Scene {
        WindowGroup { AuthView() }
    }
}
