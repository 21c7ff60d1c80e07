import AuthFoundation
import CountersignUI
import DeviceAuthenticator
import PushAuthenticatorApp
import UIKit
import UserNotifications
import Wording

/// The push authenticator of this device. The organization and the client are those of `Okta.plist`.
@MainActor
struct Phone {
    let viewModel: AuthenticatorViewModel
    let notifications: PushRequestNotifications

    init() throws {
        let settings = try OAuth2Client.PropertyListConfiguration()
        // The app group of the entitlements.
        let group = Bundle.main.object(forInfoDictionaryKey: "CountersignAppGroup") as? String ?? ""
        let application = ApplicationConfig(applicationName: "Push Authenticator", applicationVersion: "1.0", applicationGroupId: group)
        // Builds from Xcode use Apple's development push service (see the entitlement `aps-environment`).
        application.pushSettings.apsEnvironment = .development
        application.pushSettings.approveActionTitle = texts.requests.approve
        application.pushSettings.denyActionTitle = texts.requests.deny
        // Opens the app, because a notification cannot verify the user.
        application.pushSettings.userVerificationActionTitle = words("Review")
        let device = try DeviceAuthenticatorBuilder(applicationConfig: application).create()
        let authenticator = DeviceAuthenticatorConfig(orgURL: settings.issuerURL, oidcClientId: settings.clientId)
        viewModel = AuthenticatorViewModel(device: device, authenticator: authenticator)
        notifications = PushRequestNotifications(model: viewModel.requestModel)
    }
}

/// Creates the phone during the launch, so that a tap that launched the app is not lost, and passes the push token on.
final class PhoneDelegate: NSObject, UIApplicationDelegate {
    private(set) lazy var phone = Result { try Phone() }

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        guard case .success = phone else { return true }
        // At each launch, because the token can change. Without permission, silent pushes still arrive while the app is in the foreground;
        // without a token, the user fetches the requests in the app.
        application.registerForRemoteNotifications()
        Task { _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound]) }
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        guard case .success(let phone) = phone else { return }
        Task { await phone.viewModel.updatePushToken(deviceToken) }
    }
}
