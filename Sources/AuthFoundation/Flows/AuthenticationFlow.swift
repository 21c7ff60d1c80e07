public import Foundation

/// A way to sign in.
///
/// A flow is an actor. Its client, context and settings can be read from anywhere.
public protocol AuthenticationFlow: Actor, UsesDelegateCollection, IDTokenValidatorContext {
    /// What one sign-in asks for.
    associatedtype Context: AuthenticationContext

    /// What the sign-in under way asks for.
    nonisolated var context: Context? { get }

    /// Whether a sign-in is under way.
    nonisolated var isAuthenticating: Bool { get }

    /// Further parameters for every sign-in.
    nonisolated var additionalParameters: [String: any APIRequestArgument]? { get }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - additionalParameters: Further parameters for every sign-in.
    /// - Throws: ``OAuth2Error`` if the client lacks a setting that the flow needs.
    init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]?) throws

    /// Forgets the sign-in under way.
    func reset()
}

extension AuthenticationFlow {
    /// Makes a flow with the settings of `Okta.plist`.
    ///
    /// - Throws: ``OAuth2Client/PropertyListConfigurationError`` if the settings can't be read.
    public init() throws {
        try self.init(OAuth2Client.PropertyListConfiguration())
    }

    /// Makes a flow with the settings of a property list.
    ///
    /// - Parameter fileURL: The file.
    /// - Throws: ``OAuth2Client/PropertyListConfigurationError`` if the settings can't be read.
    public init(plist fileURL: URL) throws {
        try self.init(OAuth2Client.PropertyListConfiguration(plist: fileURL))
    }

    private init(_ config: OAuth2Client.PropertyListConfiguration) throws {
        try self.init(client: OAuth2Client(config), additionalParameters: config.additionalParameters)
    }

    /// Forgets the sign-in under way.
    ///
    /// - Parameter completion: Is called when it is forgotten, on no particular thread.
    nonisolated public func reset(completion: @escaping @Sendable () -> Void) {
        Task {
            await reset()
            completion()
        }
    }
}

/// What one sign-in asks for.
public protocol AuthenticationContext: Sendable, ProvidesOAuth2Parameters {
    /// The assurance levels that it must reach.
    var acrValues: [String]? { get }

    /// What the token must remember of it.
    var persistValues: [String: String]? { get }
}

extension AuthenticationContext {
    /// None.
    public var acrValues: [String]? { nil }

    /// The assurance levels.
    public var persistValues: [String: String]? {
        acrValues.map { ["acr_values": $0.joined(separator: " ")] }
    }
}

/// What a sign-in asks for, if there is nothing particular to the flow.
public struct StandardAuthenticationContext: AuthenticationContext {
    /// The assurance levels that it must reach.
    @ClaimCollection public var acrValues: [String]?

    /// Further parameters.
    public var additionalParameters: [String: any APIRequestArgument]?

    /// Takes what the sign-in asks for.
    ///
    /// - Parameters:
    ///   - acrValues: The assurance levels that it must reach.
    ///   - additionalParameters: Further parameters.
    public init(acrValues: ClaimCollection<[String]?> = nil, additionalParameters: [String: any APIRequestArgument]? = nil) {
        _acrValues = acrValues
        self.additionalParameters = additionalParameters
    }

    /// The further parameters, and the assurance levels.
    ///
    /// - Parameter category: What the request is for.
    /// - Returns: The parameters.
    public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
        var parameters = additionalParameters
        if acrValues != nil, category != .configuration, category != .resource { parameters.merge(["acr_values": $acrValues]) }
        return parameters
    }
}

/// An observer of a flow. It is called on the main actor.
public protocol AuthenticationDelegate: AnyObject {
    /// A sign-in has begun.
    func authenticationStarted<Flow>(flow: Flow)

    /// A sign-in has ended, well or not.
    func authenticationFinished<Flow>(flow: Flow)

    /// A sign-in has brought tokens.
    func authentication<Flow>(flow: Flow, received token: Token)

    /// A sign-in has failed.
    func authentication<Flow>(flow: Flow, received error: OAuth2Error)
}

extension AuthenticationDelegate {
    /// Does nothing.
    public func authenticationStarted<Flow>(flow: Flow) {}

    /// Does nothing.
    public func authenticationFinished<Flow>(flow: Flow) {}

    /// Does nothing.
    public func authentication<Flow>(flow: Flow, received token: Token) {}

    /// Does nothing.
    public func authentication<Flow>(flow: Flow, received error: OAuth2Error) {}
}
