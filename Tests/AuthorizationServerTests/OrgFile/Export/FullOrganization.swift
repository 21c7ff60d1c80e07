import Foundation
import IdentityCore
import JOSE
import Testing

@testable import AuthorizationServer

/// An org file that sets every field to another value than its default, with names that YAML could misread.
enum FullOrganization {
    static let callerToken = "a-token-of-the-portal-0123456789abcdef"
    static let environment = [
        "APNS_KEY": (try? SigningKey.generate(.es256).privatePEM) ?? "", "PORTAL_TOKEN": callerToken,
        "REPORTS_SECRET": "a-secret-of-the-reports-0123456789", "SITE_SECRET": "a-secret-of-the-site-0123456789abc",
    ]

    static func definition() throws -> OrganizationDefinition {
        try OrgFile.load(yaml: head + applications + tail, environment: environment).organization
    }

    /// Returns the values of the variables of an export.
    static func values(of export: OrgFileExport, for definition: OrganizationDefinition) -> [String: String] {
        func user(_ login: String) -> UserDefinition? { definition.users.first { $0.login == login } }
        return export.variables.reduce(into: [:]) { values, variable in
            values[variable.name] =
                switch variable.source {
                case .applicationSecret(let id): definition.applications.first { $0.id == id }?.secret
                case .authenticatorKey(let id): definition.authenticators.first { $0.id == id }?.credentials?.privateKey
                case .callerToken: callerToken
                case .userPassword(let login): user(login)?.password
                case .userTOTPSecret(let login): user(login)?.totpSecret
                case .userDeviceSeed(let login): user(login)?.hardwareDevice?.secret
                case .text(let text): text
                }
        }
    }

    private static let head = """
        id: 00oExampleOfAnIdent1
        name: "Example: #1 \\"quoted\\""
        origin: https://id.example.com
        groups: [{name: Staff, description: "All: employees"}, {name: Guests}, {name: "yes", description: "1e3"}, {name: spare}]
        sign_on_policies:
          - name: one-factor
            rules:
              - {name: Staff, groups: [Staff], require: one_factor, reauthenticate_after: 12h}
              - {name: Others, require: deny}
          - {name: two-factors, rules: [{name: All, require: two_factors}, {name: Staff, require: phishing_resistant}]}
          - {name: spare, rules: [{name: All}]}
        password_policy:
          minimum_length: 12
          lockout_attempts: 7
          lockout_minutes: 20
          scrypt_log_n: 16
          complexity: {lowercase: 1, uppercase: 2, digits: 3, symbols: 1, exclude_names: true}
          age: {maximum_days: 365, warning_days: 14, minimum_minutes: 60, history: 5}
        sessions: {idle_lifetime: 45m, lifetime: 8h}
        mfa_token_lifetime: 20m
        org_server:
          access_token_algorithm: ES256
          claims: [{name: unit, in: id_token, profile: unit, scopes: [profile]}]
        authorization_servers:
          - id: default
            name: "On"
            audience: api://default
            access_token_algorithm: ES256
            scopes:
              - {name: messages.read, description: "Read: messages", default: true, public: false}
              - {name: spare}
            claims:
              - {name: groups, in: access_token, groups_starting_with: "", scopes: [messages.read]}
              - {name: level, in: access_token, value: "007"}
            trusted_issuers:
              - issuer: https://idp.example.com
                clients: [spare]
                keys:
                  - {kid: k1, kty: EC, crv: P-256, alg: ES256, use: sig, x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU, y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0}
            access_policies:
              - name: "# first"
                clients: [spare, native-app]
                rules:
                  - name: "no"
                    grant_types: [password, oob, mfa-otp]
                    groups: [Staff, Guests]
                    scopes: [messages.read, openid]
                    access_token_lifetime: 20m
                    refresh_token_lifetime: 90d
                    refresh_token_idle_lifetime: 3d
              - {name: rest, rules: [{name: all}]}
          - {id: spare, audience: "api://spare"}
        calling_codes: ["1", "44"]
        passkeys:
          rp_id: example.com
          origins: [https://www.example.org]
          user_verification: required
          models: [ee882879-721c-4913-9775-3dfcce97072a]
          counter: signal
          offer: never
        recovery_codes: {count: 8, offer: never}
        rate_limits: {per_client: 5000, per_address: 1100, per_address_sign_ins: 110, per_user: 50, recovery_guesses: 70, messages: 500}
        dpop: {require_nonce: false}
        key_rotation: {signs_for_days: 60, published_days_ahead: 5, published_days_after: 9}
        system_log: {retention_days: 30}

        """

    private static let applications = """
        applications:
          - id: native-app
            name: "Native\\nApp 🎉"
            type: native
            active: false
            grant_types: [password, refresh_token, authorization_code, device_code, mfa-oob]
            redirect_uris: ["com.example.app:/callback", "http://127.0.0.1/callback?source=x"]
            post_logout_redirect_uris: ["com.example.app:/"]
            sign_on_policy: one-factor
            assignment: {everyone: true, groups: [Staff], users: [jane@example.com]}
            refresh_token_leeway: 10s
            id_token_algorithm: ES256
            dpop_bound_access_tokens: true
            consent: required
            silent_sign_in: always
            require_pushed_authorization_requests: true
            backchannel_logout_uri: https://app.example.com/logout
            apple_app_ids: [ABCDE12345.com.example.app]
          - id: phone-app
            name: Phone
            grant_types: [password, jwt-bearer, enrollment-ticket]
            granted_api_scopes: [okta.myAccount.appAuthenticator.manage]
            sign_on_policy: one-factor
            assignment: everyone
            refresh_token_rotation: static
          - id: site
            type: web
            authentication: client_secret
            secret: ${SITE_SECRET}
            grant_types: [authorization_code]
            redirect_uris: ["https://www.example.com/callback"]
            require_pkce: false
            sign_on_policy: two-factors
          - id: reports
            type: service
            authentication: client_secret_jwt
            secret: ${REPORTS_SECRET}
            grant_types: [client_credentials]
            strict_audience: true
            require_jti: true
            introspection_audiences: ["api://spare"]
          - id: signer
            type: service
            authentication: private_key_jwt
            keys:
              - {kid: "1e3", kty: EC, crv: P-256, x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU, y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0}
            grant_types: [client_credentials]
            introspection_audiences: []
          - {id: spare, sign_on_policy: one-factor}

        """

    private static let tail = """
        authn_api:
          sign_on_policy: two-factors
          show_lockout: true
          remember_devices: 90m
          factors: {totp: required, sms: optional, push: not_allowed, question: required}
          offer_optional_factors: true
          recovery: [email, sms]
          self_service_unlock: true
          trusted_origins: ["https://portal.example.com"]
          trusted_callers:
            - {name: "portal: main", token: "${PORTAL_TOKEN}", gateways: [10.0.0.0/8], logs: read}
        authenticators:
          - id: autphone
            type: okta_verify
            name: "Phone: app"
            client: phone-app
            push: "off"
            user_verification: required
            number_challenge: always
            apns:
              team_id: ABCDE12345
              key_id: FGHIJ67890
              key: ${APNS_KEY}
              topic: com.example.phone
              development_topic: com.example.phone.dev
        users:
          - login: jane@example.com
            password: "Correct-Horse-777!"
            must_change_password: true
            totp_secret: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ
            hotp: {secret: KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU, credential_id: "0815", counter: 5}
            status: suspended
            groups: ["yes", Staff]
            profile:
              name: Jane Doe
              unit: "yes"
              floor: 3
              ratio: 0.5
              badge: "0042"
              remote: true
              manager: null
              "odd: key #": "line\\nbreak"
              address: {postal_code: "10117", country: "NO"}
              tags: [a, 1, "1"]
          - {login: john@example.com}

        """
}
