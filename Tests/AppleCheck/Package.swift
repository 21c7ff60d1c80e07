// swift-tools-version: 6.1
import PackageDescription

// The tool of scripts/apple-check. It is a package of its own, so that no other build needs swift-syntax.
let package = Package(
    name: "apple-check",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax.git", from: "603.0.1")],
    targets: [
        .target(
            name: "AppleView",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftIfConfig", package: "swift-syntax"),
            ]),
        .executableTarget(name: "apple-check", dependencies: ["AppleView"]),
        .testTarget(name: "AppleViewTests", dependencies: ["AppleView"]),
    ],
    swiftLanguageModes: [.v6]
)
