// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 7.0, *)
open class XCTest: NSObject {}

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 7.0, *)
open class XCTestCase: XCTest {
    open var continueAfterFailure: Bool {
        get { stub() }
        set { stub() }
    }
}

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 7.0, *)
public func XCTAssertTrue(
    _ expression: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
    line: UInt = #line
) { stub() }

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 7.0, *)
@MainActor
open class XCUIElement: NSObject {
    public var textFields: XCUIElementQuery { stub() }
    public var secureTextFields: XCUIElementQuery { stub() }
    public var buttons: XCUIElementQuery { stub() }
    public var staticTexts: XCUIElementQuery { stub() }

    public func waitForExistence(timeout: TimeInterval) -> Bool { stub() }
    public func typeText(_ text: String) { stub() }

    @available(iOS 9.0, visionOS 1.0, watchOS 7.0, *)
    public func tap() { stub() }
}

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 7.0, *)
@MainActor
open class XCUIElementQuery: NSObject {
    public subscript(key: String) -> XCUIElement { stub() }
}

@available(iOS 9.0, macOS 10.11, tvOS 9.0, visionOS 1.0, watchOS 7.0, *)
@MainActor
open class XCUIApplication: XCUIElement {
    override public init() { stub() }
    public init(bundleIdentifier: String) { stub() }

    public var launchArguments: [String] {
        get { stub() }
        set { stub() }
    }

    public var launchEnvironment: [String: String] {
        get { stub() }
        set { stub() }
    }

    public func launch() { stub() }
}
