extension OrgFile {
    /// The sandbox organization, with well-known apps, users and passwords. Never use it on a server that is reachable from outside.
    package static let sandboxDefault = """
        name: Sandbox
        origin: http://localhost:8080

        groups:
          - name: Everyone
          - name: Staff

        sign_on_policies:
          - name: one-factor
            rules:
              - name: Everybody
                require: one_factor
          - name: two-factors
            rules:
              - name: Everybody
                require: two_factors

        # Browsers accept passkeys only if the sandbox's host is localhost.
        passkeys:
          user_verification: preferred
          offer: never
        recovery_codes:
          offer: never

        authorization_servers:
          - id: default
            name: Default
            audience: api://default
            scopes:
              - name: messages.read
                description: Read your messages
            access_policies:
              - name: Default Policy
                rules:
                  - name: Default Rule
                    grant_types:
                      - authorization_code
                      - device_code
                      - token-exchange
                      - password
                      - refresh_token
                      - oob
                      - otp
                      - webauthn
                      - mfa-oob
                      - mfa-otp
                      - mfa-webauthn
                  - name: Services
                    grant_types: [client_credentials]
                    scopes: [messages.read]

        applications:
          - id: password-app
            name: Password App
            type: native
            grant_types: [password, refresh_token]
            assignment: everyone
            sign_on_policy: one-factor
          - id: directauth-app
            name: Direct Authentication App
            type: native
            grant_types: [password, refresh_token, oob, otp, webauthn, mfa-oob, mfa-otp, mfa-webauthn]
            assignment: everyone
            sign_on_policy: two-factors
          # An app that signs in with the system's browser. The first redirect URI matches any loopback port. As at Okta, an open session signs
          # in without a confirmation page; the default is a confirmation page (see SECURITY.md).
          - id: browser-app
            name: Browser App
            type: native
            grant_types: [authorization_code, refresh_token, device_code]
            redirect_uris: ["http://127.0.0.1/callback", "http://[::1]/callback", "com.example.app:/callback"]
            post_logout_redirect_uris: ["http://127.0.0.1/", "http://[::1]/", "com.example.app:/"]
            assignment: everyone
            sign_on_policy: two-factors
            silent_sign_in: always
          # Two apps of one device that share a sign-in (device_sso).
          - id: sso-app
            name: First App
            type: native
            grant_types: [authorization_code, password, refresh_token, token-exchange]
            redirect_uris: ["http://127.0.0.1/callback", "com.example.sso:/callback"]
            post_logout_redirect_uris: ["http://127.0.0.1/", "com.example.sso:/"]
            assignment: everyone
            sign_on_policy: one-factor
            silent_sign_in: always
          - id: sso-app-2
            name: Second App
            type: native
            grant_types: [refresh_token, token-exchange]
            assignment: everyone
            sign_on_policy: one-factor
          # A web site with a server. Its redirect URIs must match including the port.
          - id: web-app
            name: Web App
            type: web
            authentication: client_secret
            secret: web-app-secret-01
            grant_types: [authorization_code, refresh_token]
            redirect_uris: ["http://localhost:3000/callback", "http://127.0.0.1:3000/callback"]
            post_logout_redirect_uris: ["http://localhost:3000/", "http://127.0.0.1:3000/"]
            assignment: everyone
            sign_on_policy: one-factor
          # The app that enrolls phones. A user with a second factor must present it too: the server enforces that.
          - id: phone-app
            name: Phone App
            type: native
            grant_types: [password, refresh_token, mfa-oob, mfa-otp, oob, jwt-bearer, enrollment-ticket]
            granted_api_scopes:
              - okta.myAccount.appAuthenticator.manage
              - okta.myAccount.appAuthenticator.read
              - okta.myAccount.appAuthenticator.maintenance.manage
              - okta.myAccount.appAuthenticator.maintenance.read
            assignment: everyone
            sign_on_policy: one-factor
          - id: service-app
            name: Service App
            type: service
            authentication: client_secret
            secret: service-app-secret
            grant_types: [client_credentials]

        # The classic sign-in API.
        authn_api:
          sign_on_policy: one-factor
          remember_devices: device
          factors: { totp: optional, question: optional, sms: optional, call: optional, email: optional }
          recovery: [email, sms, call]
          self_service_unlock: true
          trusted_callers:
            - name: portal
              token: sandbox-portal-token-0123456789abcdef

        # The virtual phones. The sandbox starts a push gateway for them, with its own APNs credentials.
        authenticators:
          - id: autsandboxphone
            type: custom_app
            name: Sandbox Phone
            client: phone-app
            number_challenge: never

        users:
          - login: jane.doe@example.com
            password: Correct-Horse-7
            groups: [Everyone, Staff]
            profile:
              name: Jane Doe
              given_name: Jane
              middle_name: Quinn
              family_name: Doe
              nickname: Janie
              preferred_username: jane.doe@example.com
              profile: https://example.com/people/jane.doe
              picture: https://example.com/people/jane.doe.png
              website: https://jane.example.com
              gender: female
              birthdate: "1990-04-12"
              zoneinfo: America/Los_Angeles
              locale: en-US
              email: jane.doe@example.com
              email_verified: true
              phone_number: "+1 425 555 0123"
              phone_number_verified: true
              address:
                street_address: 100 Main Street
                locality: Springfield
                region: WA
                postal_code: "98052"
                country: US
          - login: john.roe@example.com
            password: Battery-Staple-9
            groups: [Everyone]
            profile:
              name: John Roe
              given_name: John
              middle_name: Quentin
              family_name: Roe
              nickname: Johnny
              preferred_username: john.roe@example.com
              profile: https://example.com/people/john.roe
              picture: https://example.com/people/john.roe.png
              website: https://john.example.com
              gender: male
              birthdate: "1985-11-30"
              zoneinfo: Europe/Berlin
              locale: de-DE
              email: john.roe@example.com
              email_verified: true
              phone_number: "+49 30 5550123"
              phone_number_verified: false
              address:
                street_address: Unter den Linden 1
                locality: Berlin
                region: Berlin
                postal_code: "10117"
                country: DE

        # High limits, because tests sign in often.
        rate_limits:
          per_client: 1000000
          per_address: 1000000
          per_address_sign_ins: 1000000
          per_user: 100000
          recovery_guesses: 1000000

        """
}
