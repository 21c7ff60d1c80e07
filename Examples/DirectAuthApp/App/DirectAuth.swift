import DirectAuthApp
import SwiftUI

/// The app with a window. The settings are in `Okta.plist`.
@main
struct DirectAuth: App {
    var body: some Scene {
        WindowGroup { AuthView() }
    }
}
