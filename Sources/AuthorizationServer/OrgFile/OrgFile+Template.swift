extension OrgFile {
    /// The commented org file that `countersign init` writes. It is valid without changes.
    package static let template = """
        # The organization whose users this server signs in.
        # Run it:    countersign serve --config org.yaml --data data
        # Change it: edit this file and restart the server. Sessions, grants and enrollments stay; the server prints what changed.
        #
        # ${NAME} stands for an environment variable. Durations are seconds, or 30m, 1h, 7d.
        # A rule without clients, grant_types, groups or scopes applies to all of them.

        name: Example
        # The public address of the server: scheme, host and port, without a path. Use http for localhost only.
        origin: http://localhost:8080

        # Settings of the process. The command line and the environment override them.
        #server:
        #  host: 0.0.0.0
        #  port: 8443
        #  tls-certificate: certificate.pem
        #  tls-key: key.pem
        #  # The proxies whose X-Forwarded-For is trusted, and the connection limit of every other address.
        #  trusted-proxies: [10.0.0.0/8]
        #  max-connections-per-address: 256

        # The look of the sign-in pages: a PNG or SVG of at most 100 KiB, and the button colour on light and on dark pages.
        #branding:
        #  name: Example Inc.
        #  logo: logo.svg
        #  accent: "#0f5c5a"
        #  accent_dark: "#6fd0c8"

        groups:
          - name: Staff
            description: All employees

        # The factors that a sign-in requires. The first matching rule decides; without a match, the sign-in is denied.
        sign_on_policies:
          - name: one-factor
            rules:
              - name: All users
                require: one_factor         # one_factor, two_factors, phishing_resistant or deny
          - name: two-factors
            rules:
              - name: All users
                require: two_factors
                reauthenticate_after: 12h

        password_policy:
          minimum_length: 8
          lockout_attempts: 10              # wrong answers until a lock of 30 seconds, then 1, 2, 5, 15 minutes; 0: never
          lockout_minutes: 15               # the longest lock; unlimited: until an administrator unlocks the account
          scrypt_log_n: 15                  # 14 to 20; 15 needs 32 MiB for each hash, and each step doubles memory and time
          #complexity:                      # minimum number of each kind; a long password is safer than a mixed one
          #  lowercase: 1
          #  uppercase: 1
          #  digits: 1
          #  symbols: 0
          #  exclude_names: true            # reject the user's given and family name
          # The section breached_passwords rejects passwords from data breaches.
          #age:
          #  maximum_days: 365              # an older password must be changed at the next sign-in; unlimited: never
          #  warning_days: 14               # warn the user this many days before
          #  minimum_minutes: 60            # minimum age before the user can change it
          #  history: 5                     # reject the last five passwords

        # Lists of breached passwords. Only new passwords are looked up, not those of a sign-in. A list that does not respond is skipped, and
        # the system log has an event.
        #breached_passwords:
        #  range_url: https://api.pwnedpasswords.com/range   # receives the first 5 digits of each new password's SHA-1
        #  timeout: 2s
        #  file: breached.txt              # sorted SHA-1 digests, or their first 10 to 40 digits, one per line, beside this file

        # The lifetime of a browser session.
        sessions:
          idle_lifetime: 2h                 # since the last use
          lifetime: 1d                      # since the sign-in

        # The time between the first and the second factor in an app: 5m to 1h.
        mfa_token_lifetime: 15m

        # Authorization servers issue tokens for APIs; this one at {origin}/oauth2/default. The organization's own is always at {origin}.
        authorization_servers:
          - id: default
            name: Default
            audience: api://default
            access_token_algorithm: RS256   # or ES256
            scopes:
              - name: messages.read
                description: Read your messages
            claims:
              - name: groups
                in: access_token            # or id_token
                groups_starting_with: ""    # or value: a text, or profile: an attribute
                scopes: [profile]
            # Issuers whose signed assertions about users are accepted, by the grant jwt-bearer.
            #trusted_issuers:
            #  - issuer: https://idp.example.com
            #    keys:                      # public keys; this one is the example of RFC 7515
            #      - kid: k1
            #        kty: EC
            #        crv: P-256
            #        x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU
            #        y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0
            # Who gets tokens by which grant. The first matching policy and rule decide; without a match, the request is denied.
            access_policies:
              - name: All clients
                #clients: [mobile-app]
                rules:
                  - name: Users
                    grant_types: [authorization_code, password, refresh_token, oob, otp, mfa-oob, mfa-otp]
                    access_token_lifetime: 1h
                    refresh_token_lifetime: unlimited
                    refresh_token_idle_lifetime: 7d
                  - name: Services
                    grant_types: [client_credentials]
                    scopes: [messages.read]

        applications:
          - id: mobile-app
            name: Mobile app
            type: native                    # native, browser, web or service
            grant_types: [password, refresh_token]
            sign_on_policy: one-factor
            assignment:                     # or: everyone
              groups: [Staff]
            refresh_token_rotation: rotate  # or static
            refresh_token_leeway: 30s       # how long a retry can use the previous refresh token
            #require_pushed_authorization_requests: true   # sign-ins start at /par only (RFC 9126)
            #dpop_bound_access_tokens: true # tokens are bound to a key of the app (DPoP)
            #silent_sign_in: always         # an open session signs in without a confirmation page (see SECURITY.md)
            #backchannel_logout_uri: https://app.example.com/backchannel-logout   # notified when a browser session ends
            #apple_app_ids: [ABCDE12345.com.example.app]   # may open https redirect URIs of this server, use its passkeys and fill in its passwords
          # A service has a secret, here from the environment variable REPORTS_SECRET.
          #- id: reports
          #  name: Nightly reports
          #  type: service
          #  authentication: client_secret   # in the header or the body; client_secret_basic or client_secret_post for one of them
          #  secret: ${REPORTS_SECRET}
          #  grant_types: [client_credentials]
          # An API that introspects tokens; it gets the state of tokens for its own audience only.
          #- id: orders-api
          #  name: Orders API
          #  type: service
          #  authentication: private_key_jwt # authenticates by an assertion that its own key signs
          #  keys:                           # public keys; this one is the example of RFC 7515
          #    - kid: k1
          #      kty: EC
          #      crv: P-256
          #      x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU
          #      y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0
          #  strict_audience: true           # the assertion's audience must be the issuer, not the endpoint
          #  require_jti: true               # each assertion needs an id and is accepted once
          #  introspection_audiences: [api://default]   # without this line: tokens of every audience
          # A web site with a server.
          #- id: web-app
          #  name: Web site
          #  type: web
          #  authentication: client_secret
          #  secret: ${WEB_APP_SECRET}
          #  grant_types: [authorization_code, refresh_token]
          #  redirect_uris: ["https://www.example.com/callback"]
          #  require_pkce: true              # false if the site's library cannot send a code_challenge
          #  sign_on_policy: one-factor
          #  assignment: everyone
          # The app on the users' phones that approves sign-ins; see authenticators.
          #- id: phone-app
          #  name: Example Phone
          #  grant_types: [password, refresh_token, mfa-oob, jwt-bearer, enrollment-ticket]   # the last: by a QR code at sign-in
          #  granted_api_scopes:
          #    - okta.myAccount.appAuthenticator.manage
          #    - okta.myAccount.appAuthenticator.read
          #    - okta.myAccount.appAuthenticator.maintenance.manage
          #    - okta.myAccount.appAuthenticator.maintenance.read
          #  sign_on_policy: one-factor      # a user with another factor must also present it before a phone is enrolled
          #  assignment: everyone

        # The classic sign-in API, /api/v1/authn. Without this section, it is off.
        #authn_api:
        #  sign_on_policy: two-factors
        #  show_lockout: false               # true reveals to any caller which accounts exist
        #  remember_devices: never           # or device: while the device sends its token; or a duration: 30d
        #  factors:                          # the factors that users can enroll: required, optional or not_allowed
        #    totp: optional
        #    webauthn: optional              # passkeys; only with the section passkeys
        #  offer_optional_factors: false     # true: every sign-in offers them to users without a second factor
        #  recovery: []                      # the ways to reset a forgotten password: email, sms, call
        #  self_service_unlock: false        # true: the same ways unlock a locked account
        #  trusted_origins: [https://portal.example.com]   # their pages can read responses; also the targets of sessionCookieRedirect
        #  trusted_callers:                  # back ends that can forward a user's address and device, start recoveries and end sessions
        #    - name: portal
        #      token: ${PORTAL_TOKEN}        # at least 32 characters; only its digest is stored
        #      gateways: [10.0.0.0/8]        # its X-Forwarded-For is trusted from here, so that limits apply to the end user
        #      logs: none                    # or read: it can read the system log, GET /api/v1/logs

        # Mails, texts and calls with codes and links. Without its section, a message is not sent, and the system log has an event.
        #messages:
        #  mail:
        #    host: smtp.example.com
        #    port: 587
        #    security: starttls              # or tls: from the first byte, port 465
        #    user: post@example.com
        #    password: ${SMTP_PASSWORD}
        #    from: no-reply@example.com
        #    from_name: Example
        #  telephony:                        # an HTTPS endpoint for telephony inline hooks
        #    url: https://hooks.example.com/telephony
        #    header: Authorization
        #    secret: ${HOOK_SECRET}
        #    signing_key: ${HOOK_KEY}        # signs the body, in X-Countersign-Signature

        #passkeys:                          # without this section, users have no passkeys
        #  rp_id: localhost                # such as example.com; the default is the host of the origin. A change makes all passkeys unusable
        #  origins: [https://www.example.com]   # further sites that use them, and Android apps (android:apk-key-hash:…)
        #  user_verification: preferred    # required: every passkey asks for a PIN or biometrics
        #  models: [ee882879-721c-4913-9775-3dfcce97072a]   # AAGUIDs of the authenticators that can be enrolled
        #  counter: refuse                 # signal: a copied key is only logged
        #  offer: once                     # never: the pages do not offer a passkey after a sign-in

        # One-time codes that users save, for the time when they lose a phone or a passkey. The pages offer them after a second factor.
        #recovery_codes:
        #  count: 10                       # the number of codes of a list: 4 to 20
        #  offer: once                     # never: the pages do not offer them

        #calling_codes: ["1", "44"]         # countries that get texts and calls; without this line, all

        # Apps that approve sign-ins by a push to the user's phone.
        authenticators: []
        #authenticators:
        #  - id: autphone                    # do not change it: phones are enrolled under this id
        #    type: custom_app                # or okta_verify
        #    name: Example Phone
        #    client: phone-app               # the application whose tokens enroll phones
        #    push: "on"                      # the default; off: no enrollment, no push, no approval
        #    user_verification: preferred    # required: every phone needs a key that the user unlocks
        #    number_challenge: risky         # never, always, or risky: for a new address or device only
        #    apns:                           # without this section, no push is sent, and phones poll for challenges
        #      team_id: ABCDE12345
        #      key_id: FGHIJ67890
        #      key: ${APNS_KEY}              # content of the .p8 file; or key_file: AuthKey.p8, beside this file
        #      topic: com.example.phone
        #      development_topic: com.example.phone.dev

        # Users of this file. The password applies when the user is created; the user's later changes stay. A user that is removed from this
        # file is deactivated. Users that were created in another way do not change.
        users: []
        #users:
        #  - login: jane.doe@example.com
        #    password: ${JANES_FIRST_PASSWORD}
        #    must_change_password: true     # at the first sign-in, which needs a browser
        #    hotp:                          # a hardware token with counter-based codes (RFC 4226)
        #      secret: ${JANES_SEED}        # Base32
        #      credential_id: "4711-0815"
        #    totp_secret: ${JANES_TOTP_SECRET}   # for tests: the Base32 secret of an authenticator app
        #    groups: [Staff]
        #    profile:
        #      name: Jane Doe
        #      given_name: Jane
        #      family_name: Doe
        #      email: jane.doe@example.com
        #      email_verified: true

        # Requests per minute, unless stated otherwise.
        rate_limits:
          per_client: 6000
          per_address: 1200
          per_address_sign_ins: 120         # password attempts from one address, for all users; raise it if many users share a proxy
          per_user: 60
          recovery_guesses: 100             # wrong codes and answers per hour in all recoveries; then only known devices and networks recover
          messages: 600                     # mails, texts and calls to all users; it limits their cost

        # DPoP: proofs of the key that a client's tokens are bound to (RFC 9449).
        dpop:
          require_nonce: true               # proofs at the token endpoint need a nonce of the server

        key_rotation:
          signs_for_days: 90
          published_days_ahead: 7
          published_days_after: 7

        # The system log, which countersign log shows. A shorter time also removes older lines within an hour.
        system_log:
          retention_days: 90                # 1 to 3650

        """
}
