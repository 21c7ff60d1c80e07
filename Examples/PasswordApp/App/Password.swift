import PasswordApp
import SwiftUI

/// The app with a window. The settings are in `Okta.plist`.
@main
struct Password: App {
    var body: some Scene {
        WindowGroup { LoginView() }
    }
}
