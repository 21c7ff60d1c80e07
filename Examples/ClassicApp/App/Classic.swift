import ClassicApp
import SwiftUI

/// The app with a window. The settings are in `Okta.plist`.
@main
struct Classic: App {
    var body: some Scene {
        WindowGroup { ClassicView() }
    }
}
