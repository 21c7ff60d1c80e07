import PushAuthenticatorApp
import SwiftUI

/// The app with a window, or with the reason why it cannot start, such as a missing app group.
@main
struct PushAuthenticator: App {
    @UIApplicationDelegateAdaptor private var delegate: PhoneDelegate

    var body: some Scene {
        WindowGroup {
            switch delegate.phone {
            case .success(let phone): PhoneView(viewModel: phone.viewModel)
            case .failure(let error): Text(verbatim: error.localizedDescription).padding()
            }
        }
    }
}
