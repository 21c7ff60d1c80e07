// swift-tools-version: 6.1
import PackageDescription

// Uses the client modules as an app does, without traits. The package is compiled and never run. One target is in Swift 5 mode, which most
// apps with Okta's SDK use, and the other in Swift 6 mode.
let modules: [Target.Dependency] = [
    "LoggerCore",
    .product(name: "JSON", package: "countersign"),
    .product(name: "CommonSupport", package: "countersign"),
    .product(name: "AuthFoundation", package: "countersign"),
    .product(name: "OAuth2Auth", package: "countersign"),
    .product(name: "BrowserSignin", package: "countersign"),
    .product(name: "OktaDirectAuth", package: "countersign"),
    .product(name: "DeviceAuthenticator", package: "countersign"),
    .product(name: "OktaAuthSdk", package: "countersign"),
    .product(name: "OktaAuthNative", package: "countersign"),
]

let package = Package(
    name: "compatibility",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [.package(name: "countersign", path: "../..", traits: [])],
    targets: [
        // The module of another package that apps use beside DeviceAuthenticator.
        .target(name: "LoggerCore", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Swift5App", dependencies: modules, swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Swift6App", dependencies: modules, swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
