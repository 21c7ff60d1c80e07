// swift-tools-version: 6.1
import AppleProductTypes
import PackageDescription

// An app playground: Xcode opens the folder and runs the app, without a project. Swift Playground resolves no packages by path. For it,
// replace the dependency by .package(url: "https://github.com/countersign/countersign.git", from: "0.1.0", traits: [])
let package = Package(
    name: "QuickStart",
    platforms: [.iOS(.v17)],
    products: [
        .iOSApplication(
            name: "QuickStart",
            targets: ["QuickStart"],
            bundleIdentifier: "com.example.countersign.quickstart",
            displayVersion: "1.0",
            bundleVersion: "1",
            supportedDeviceFamilies: [.pad, .phone],
            supportedInterfaceOrientations: [
                .portrait, .landscapeLeft, .landscapeRight, .portraitUpsideDown(.when(deviceFamilies: [.pad])),
            ],
            capabilities: [
                // Plain http for the sandbox on this machine, and for no other host.
                .appTransportSecurity(
                    configuration: .init(exceptionDomains: [.init(domainName: "localhost", exceptionAllowsInsecureHTTPLoads: true)]))
            ])
    ],
    // The package of this checkout, so that the app uses the code beside it. The app does not need the server.
    dependencies: [.package(name: "countersign", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "QuickStart", dependencies: [.product(name: "BrowserSignin", package: "countersign")], path: ".")
    ],
    swiftLanguageModes: [.v6]
)
