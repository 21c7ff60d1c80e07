public import Foundation

/// A sign-in method. A flow is an actor. Its client, context and settings are readable from any thread.
public protocol AuthenticationFlow: Actor, UsesDelegateCollection, IDTokenValidatorContext {
    /// The type of the parameters of one sign-in.
    associatedtype Context: AuthenticationContext

    /// The parameters of the current sign-in; `nil` if there is none.
    var context: Context? { get }

    /// Whether a sign-in is in progress.
    var isAuthenticating: Bool { get }

    /// Extra parameters for every sign-in.
    var additionalParameters: [String: any APIRequestArgument]? { get }

    /// Creates a flow.
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - additionalParameters: Extra parameters for every sign-in.
    /// - Throws: ``OAuth2Error`` if the client lacks a setting that the flow needs.
    init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]?) throws

    /// Discards the current sign-in.
    func reset()
}

extension AuthenticationFlow {
    /// Creates a flow with the settings of `Okta.plist`.
    /// - Throws: ``OAuth2Client/PropertyListConfigurationError`` if the settings cannot be read.
    public init() throws {
        try self.init(OAuth2Client.PropertyListConfiguration())
    }

    /// Creates a flow with the settings of a property list file.
    /// - Throws: ``OAuth2Client/PropertyListConfigurationError`` if the settings cannot be read.
    public init(plist fileURL: URL) throws {
        try self.init(OAuth2Client.PropertyListConfiguration(plist: fileURL))
    }

    private init(_ config: OAuth2Client.PropertyListConfiguration) throws {
        try self.init(client: OAuth2Client(config), additionalParameters: config.additionalParameters)
    }

    /// Discards the current sign-in.
    /// - Parameter completion: Called after the reset, on an unspecified thread.
    nonisolated public func reset(completion: @escaping @Sendable () -> Void) {
        Task {
            await reset()
            completion()
        }
    }
}

/// A request of a flow.
public protocol AuthenticationFlowRequest {
    /// The flow that sends the request.
    associatedtype Flow: AuthenticationFlow

    /// The parameters of the sign-in to which the request belongs.
    var context: Flow.Context { get }
}

/// The parameters of one sign-in.
public protocol AuthenticationContext: Sendable, ProvidesOAuth2Parameters {
    /// The required assurance levels; `nil` for none.
    var acrValues: [String]? { get }

    /// The values that are stored with the token; `nil` for none.
    var persistValues: [String: String]? { get }
}

extension AuthenticationContext {
    /// `nil`: no assurance level is required.
    public var acrValues: [String]? { nil }

    /// The assurance levels, as the value `acr_values`; `nil` for none.
    public var persistValues: [String: String]? {
        acrValues.map { ["acr_values": $0.joined(separator: " ")] }
    }
}

/// The parameters of a sign-in that has no flow-specific parameters.
public struct StandardAuthenticationContext: AuthenticationContext {
    /// The required assurance levels; `nil` for none.
    @ClaimCollection public var acrValues: [String]?

    /// Extra parameters.
    public var additionalParameters: [String: any APIRequestArgument]?

    /// Creates the parameters of a sign-in.
    /// - Parameters:
    ///   - acrValues: The required assurance levels.
    ///   - additionalParameters: Extra parameters. The parameter `acr_values` sets ``acrValues``, unless `acrValues` is given.
    public init(acrValues: ClaimCollection<[String]?> = nil, additionalParameters: [String: any APIRequestArgument]? = nil) {
        (_acrValues, self.additionalParameters) = additionalParameters.takingAssuranceLevels(or: acrValues)
    }

    /// Returns the extra parameters, and the assurance levels for the categories `authorization`, `token` and `other`.
    public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
        var parameters = additionalParameters
        if acrValues != nil, category != .configuration, category != .resource { parameters.merge(["acr_values": $acrValues]) }
        return parameters
    }
}

/// An observer of a flow, called on the main actor.
public protocol AuthenticationDelegate: AnyObject {
    /// Called when a sign-in starts.
    func authenticationStarted<Flow>(flow: Flow)

    /// Called when a sign-in ends, with or without success.
    func authenticationFinished<Flow>(flow: Flow)

    /// Called when a sign-in succeeds.
    func authentication<Flow>(flow: Flow, received token: Token)

    /// Called when a sign-in fails.
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
