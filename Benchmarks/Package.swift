// swift-tools-version: 6.1
import PackageDescription

// A separate package, so that users of the project do not resolve the benchmark library. To add a benchmark, add a
// folder with a Swift file to Benchmarks/ and a line to `targets`.
let package = Package(
    name: "countersign-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "countersign", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    ],
    targets: [
        benchmark("TokenVerification", [.product(name: "JOSE", package: "countersign")]),
        benchmark("CredentialLookup", [.product(name: "AuthFoundation", package: "countersign")]),
        .executableTarget(name: "Ceiling", dependencies: [.product(name: "JOSE", package: "countersign")], path: "Ceiling"),
    ],
    swiftLanguageModes: [.v6]
)

func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            .product(name: "Benchmark", package: "benchmark"), .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ] + dependencies,
        path: "Benchmarks/\(name)",
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
}
