extension OpenIdConfiguration {
    /// The name of a member of the discovery document.
    public enum ProviderMetadata: String, IsClaim, Codable, CodingKey, CaseIterable {
        /// `issuer`.
        case issuer
        /// `authorization_endpoint`.
        case authorizationEndpoint = "authorization_endpoint"
        /// `token_endpoint`.
        case tokenEndpoint = "token_endpoint"
        /// `userinfo_endpoint`.
        case userinfoEndpoint = "userinfo_endpoint"
        /// `jwks_uri`.
        case jwksUri = "jwks_uri"
        /// `registration_endpoint`.
        case registrationEndpoint = "registration_endpoint"
        /// `scopes_supported`.
        case scopesSupported = "scopes_supported"
        /// `response_types_supported`.
        case responseTypesSupported = "response_types_supported"
        /// `response_modes_supported`.
        case responseModesSupported = "response_modes_supported"
        /// `grant_types_supported`.
        case grantTypesSupported = "grant_types_supported"
        /// `acr_values_supported`.
        case acrValuesSupported = "acr_values_supported"
        /// `subject_types_supported`.
        case subjectTypesSupported = "subject_types_supported"
        /// `id_token_signing_alg_values_supported`.
        case idTokenSigningAlgValuesSupported = "id_token_signing_alg_values_supported"
        /// `id_token_encryption_alg_values_supported`.
        case idTokenEncryptionAlgValuesSupported = "id_token_encryption_alg_values_supported"
        /// `id_token_encryption_enc_values_supported`.
        case idTokenEncryptionEncValuesSupported = "id_token_encryption_enc_values_supported"
        /// `userinfo_signing_alg_values_supported`.
        case userinfoSigningAlgValuesSupported = "userinfo_signing_alg_values_supported"
        /// `userinfo_encryption_alg_values_supported`.
        case userinfoEncryptionAlgValuesSupported = "userinfo_encryption_alg_values_supported"
        /// `userinfo_encryption_enc_values_supported`.
        case userinfoEncryptionEncValuesSupported = "userinfo_encryption_enc_values_supported"
        /// `request_object_signing_alg_values_supported`.
        case requestObjectSigningAlgValuesSupported = "request_object_signing_alg_values_supported"
        /// `request_object_encryption_alg_values_supported`.
        case requestObjectEncryptionAlgValuesSupported = "request_object_encryption_alg_values_supported"
        /// `request_object_encryption_enc_values_supported`.
        case requestObjectEncryptionEncValuesSupported = "request_object_encryption_enc_values_supported"
        /// `token_endpoint_auth_methods_supported`.
        case tokenEndpointAuthMethodsSupported = "token_endpoint_auth_methods_supported"
        /// `token_endpoint_auth_signing_alg_values_supported`.
        case tokenEndpointAuthSigningAlgValuesSupported = "token_endpoint_auth_signing_alg_values_supported"
        /// `display_values_supported`.
        case displayValuesSupported = "display_values_supported"
        /// `claim_types_supported`.
        case claimTypesSupported = "claim_types_supported"
        /// `claims_supported`.
        case claimsSupported = "claims_supported"
        /// `service_documentation`.
        case serviceDocumentation = "service_documentation"
        /// `claims_locales_supported`.
        case claimsLocalesSupported = "claims_locales_supported"
        /// `ui_locales_supported`.
        case uiLocalesSupported = "ui_locales_supported"
        /// `claims_parameter_supported`.
        case claimsParameterSupported = "claims_parameter_supported"
        /// `request_parameter_supported`.
        case requestParameterSupported = "request_parameter_supported"
        /// `request_uri_parameter_supported`.
        case requestUriParameterSupported = "request_uri_parameter_supported"
        /// `require_request_uri_registration`.
        case requireRequestUriRegistration = "require_request_uri_registration"
        /// `op_policy_uri`.
        case opPolicyUri = "op_policy_uri"
        /// `op_tos_uri`.
        case opTosUri = "op_tos_uri"
        /// `check_session_iframe`.
        case checkSessionIframe = "check_session_iframe"
        /// `end_session_endpoint`.
        case endSessionEndpoint = "end_session_endpoint"
        /// `revocation_endpoint`.
        case revocationEndpoint = "revocation_endpoint"
        /// `revocation_endpoint_auth_methods_supported`.
        case revocationEndpointAuthMethodsSupported = "revocation_endpoint_auth_methods_supported"
        /// `introspection_endpoint`.
        case introspectionEndpoint = "introspection_endpoint"
        /// `introspection_endpoint_auth_methods_supported`.
        case introspectionEndpointAuthMethodsSupported = "introspection_endpoint_auth_methods_supported"
        /// `device_authorization_endpoint`.
        case deviceAuthorizationEndpoint = "device_authorization_endpoint"
        /// `code_challenge_methods_supported`.
        case codeChallengeMethodsSupported = "code_challenge_methods_supported"
        /// `pushed_authorization_request_endpoint`.
        case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
        /// `require_pushed_authorization_requests`.
        case requirePushedAuthorizationRequests = "require_pushed_authorization_requests"
        /// `dpop_signing_alg_values_supported`.
        case dpopSigningAlgValuesSupported = "dpop_signing_alg_values_supported"
        /// `backchannel_token_delivery_modes_supported`.
        case backchannelTokenDeliveryModesSupported = "backchannel_token_delivery_modes_supported"
        /// `backchannel_authentication_endpoint`.
        case backchannelAuthenticationEndpoint = "backchannel_authentication_endpoint"
        /// `backchannel_authentication_request_signing_alg_values_supported`.
        case backchannelAuthenticationRequestSigningAlgValuesSupported = "backchannel_authentication_request_signing_alg_values_supported"
        /// `authorization_response_iss_parameter_supported`.
        case authorizationResponseIssParameterSupported = "authorization_response_iss_parameter_supported"
    }
}
