/// The guide's spelling of ``OktaAuthStatusPasswordReset``.
@available(*, deprecated, renamed: "OktaAuthStatusPasswordReset", message: "Will be removed in 2.0.")
public typealias OktaAuthStatuPasswordReset = OktaAuthStatusPasswordReset

/// The guide's spelling of ``OktaAuthStatusUnauthenticated``.
@available(*, deprecated, renamed: "OktaAuthStatusUnauthenticated", message: "Will be removed in 2.0.")
public typealias OktaAuthUnauthenticated = OktaAuthStatusUnauthenticated
