extension OrgFile {
    /// The commented org file that `countersign init` writes; it loads without changes.
    package static let template = """
        # The organization that this server signs people in for.
        # Run it:    countersign serve --config org.yaml --data data
        # Change it: edit and start again. Sessions, grants and enrolments stay; the start tells what changed.
        #
        # A value ${NAME} is taken from the environment. Times are seconds, or 30m, 1h, 7d.
        # Lists that restrict (clients, grant_types, groups, scopes of rules) restrict nothing when they are left out.

        name: Example
        # What clients reach the server by, without a path: scheme, host and port. Plain http is for localhost only.
        origin: http://localhost:8080

        # How the server runs; the command line and the environment go before this.
        #server:
        #  host: 0.0.0.0
        #  port: 8443
        #  tls-certificate: certificate.pem
        #  tls-key: key.pem
        #  # Behind a proxy: whose X-Forwarded-For counts. Every other address has at most so many connections.
        #  trusted-proxies: [10.0.0.0/8]
        #  max-connections-per-address: 256

        # How the hosted sign-in pages look: a PNG or SVG of at most 100 KiB, and the colour of buttons on light and on dark pages.
        #branding:
        #  name: Example Inc.
        #  logo: logo.svg
        #  accent: "#0f5c5a"
        #  accent_dark: "#6fd0c8"

        groups:
          - name: Staff
            description: Everybody who works here

        # What applications ask of people. The first rule that matches decides; none refuses.
        sign_on_policies:
          - name: one-factor
            rules:
              - name: Everybody
                require: one_factor         # one_factor, two_factors or deny
          - name: two-factors
            rules:
              - name: Everybody
                require: two_factors
                reauthenticate_after: 12h

        password_policy:
          minimum_length: 8
          lockout_attempts: 10              # wrong answers until the account is locked for 30 seconds, then 1, 2, 5, 15 minutes; 0: never
          lockout_minutes: 15               # the longest lock; unlimited: the first one stays until an administrator opens the account
          scrypt_log_n: 15                  # 14 to 20; 15 takes 32 MiB a hash, each step doubles memory and time
          #complexity:                      # fewest of each kind; long passwords are better than mixed ones
          #  lowercase: 1
          #  uppercase: 1
          #  digits: 1
          #  symbols: 0
          #  exclude_names: true            # no given or family name in it
          # Passwords that were exposed in data breaches are refused with the section breached_passwords.
          #age:
          #  maximum_days: 365              # then it must be changed when they sign in; unlimited: never
          #  warning_days: 14               # people are warned so many days before
          #  minimum_minutes: 60            # before they can change it again
          #  history: 5                     # none of the last five is taken again

        # New passwords are compared with lists of breached ones, never those that are typed to sign in. A list that can't be asked is skipped,
        # and the log says so.
        #breached_passwords:
        #  range_url: https://api.pwnedpasswords.com/range   # learns the first 5 digits of the SHA-1 of each new password
        #  timeout: 2s
        #  file: breached.txt              # sorted SHA-1 digests, or their first 10 to 40 digits, one in each line, beside this file

        # How long people stay signed in with a browser.
        sessions:
          idle_lifetime: 2h                 # without use
          lifetime: 1d                      # in all

        # How long an app's user has for the second factor, after the first one: 5m to 1h.
        mfa_token_lifetime: 15m

        # Authorization servers issue tokens for APIs, here at {origin}/oauth2/default. The org's own is always there, at {origin}.
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
            # Others whose signed assertions about people are taken, by the grant jwt-bearer.
            #trusted_issuers:
            #  - issuer: https://idp.example.com
            #    keys:                      # its public keys; this one is the example of RFC 7515
            #      - kid: k1
            #        kty: EC
            #        crv: P-256
            #        x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU
            #        y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0
            # Who gets tokens by which grant. The first policy and rule that match decide; none refuses.
            access_policies:
              - name: Everybody
                #clients: [mobile-app]
                rules:
                  - name: People
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
            refresh_token_leeway: 30s       # how long a retry may bring the one before
            #require_pushed_authorization_requests: true   # sign-in begins at /par only (RFC 9126)
            #dpop_bound_access_tokens: true # its tokens are good only with a key of the app's (DPoP)
            #silent_sign_in: always         # never ask a browser that is signed in whether it meant the app (see SECURITY.md)
            #backchannel_logout_uri: https://app.example.com/backchannel-logout   # told when a browser's session has ended
            #apple_app_ids: [ABCDE12345.com.example.app]   # may take https redirect URIs of this server, and fill in its passwords
          # A service keeps a secret; give it by the environment, as ${REPORTS_SECRET}.
          #- id: reports
          #  name: Nightly reports
          #  type: service
          #  authentication: client_secret   # in the header or the body; client_secret_basic or client_secret_post allows only one
          #  secret: ${REPORTS_SECRET}
          #  grant_types: [client_credentials]
          # An API that asks the server about tokens, and learns only of tokens that are meant for it.
          #- id: orders-api
          #  name: Orders API
          #  type: service
          #  authentication: private_key_jwt # signs an assertion with its own key
          #  keys:                           # its public keys; this one is the example of RFC 7515
          #    - kid: k1
          #      kty: EC
          #      crv: P-256
          #      x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU
          #      y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0
          #  strict_audience: true           # the assertion's audience is the issuer, not the endpoint
          #  require_jti: true               # each assertion has an id and is accepted once
          #  introspection_audiences: [api://default]   # without the line: tokens of every audience
          # A site with a server behind it.
          #- id: web-app
          #  name: Web site
          #  type: web
          #  authentication: client_secret
          #  secret: ${WEB_APP_SECRET}
          #  grant_types: [authorization_code, refresh_token]
          #  redirect_uris: ["https://www.example.com/callback"]
          #  require_pkce: true              # false: for a site whose library can't send a code_challenge
          #  sign_on_policy: one-factor
          #  assignment: everyone
          # The app on people's phones that confirms sign-ins; see authenticators.
          #- id: phone-app
          #  name: Example Phone
          #  grant_types: [password, refresh_token, mfa-oob, jwt-bearer, enrollment-ticket]   # the last: by a QR code of the sign-in page
          #  granted_api_scopes:
          #    - okta.myAccount.appAuthenticator.manage
          #    - okta.myAccount.appAuthenticator.read
          #    - okta.myAccount.appAuthenticator.maintenance.manage
          #    - okta.myAccount.appAuthenticator.maintenance.read
          #  sign_on_policy: one-factor      # who has another factor must prove it all the same before a phone is enrolled
          #  assignment: everyone

        # The classic sign-in API, /api/v1/authn; without the section it is off.
        #authn_api:
        #  sign_on_policy: two-factors
        #  show_lockout: false               # true tells everybody which accounts there are
        #  remember_devices: never           # device: as long as it brings its token; or a time: 30d
        #  factors:                          # what people set up: required, optional or not_allowed
        #    totp: optional
        #  offer_optional_factors: false     # true: who has none is offered to, at every sign-in
        #  recovery: []                      # how a forgotten password is replaced: email, sms, call
        #  self_service_unlock: false        # true: a locked account is opened in the same ways
        #  trusted_origins: [https://portal.example.com]   # whose pages may read answers; where sessionCookieRedirect may lead
        #  trusted_callers:                  # back ends that may say for whom they ask, start recoveries and end sessions
        #    - name: portal
        #      token: ${PORTAL_TOKEN}        # at least 32 characters; only its digest is kept
        #      gateways: [10.0.0.0/8]        # from where its X-Forwarded-For counts: limits are then the end user's

        # Mails, texts and calls that bring codes and links. What has no section is not sent, which the system log tells.
        #messages:
        #  mail:
        #    host: smtp.example.com
        #    port: 587
        #    security: starttls              # tls: from the first byte on, port 465
        #    user: post@example.com
        #    password: ${SMTP_PASSWORD}
        #    from: no-reply@example.com
        #    from_name: Example
        #  telephony:                        # an HTTPS address that takes telephony inline hooks
        #    url: https://hooks.example.com/telephony
        #    header: Authorization
        #    secret: ${HOOK_SECRET}
        #    signing_key: ${HOOK_KEY}        # bodies are signed with it, in X-Countersign-Signature

        #calling_codes: ["1", "44"]         # the countries that texts and calls go to; without the line, all

        # Apps that confirm sign-ins by a push to a person's phone.
        authenticators: []
        #authenticators:
        #  - id: autphone                    # keep it: phones are enrolled under it
        #    type: custom_app                # or okta_verify
        #    name: Example Phone
        #    client: phone-app               # the application whose tokens enroll phones
        #    push: "on"                      # as without the line; off: nothing is enrolled, sent or answered
        #    user_verification: preferred    # required: every phone needs a key that the person unlocks
        #    number_challenge: risky         # never, always, or risky: only for a new address or device
        #    apns:                           # without it nothing is sent, and phones fetch what waits for them
        #      team_id: ABCDE12345
        #      key_id: FGHIJ67890
        #      key: ${APNS_KEY}              # the text of the .p8 file; or key_file: AuthKey.p8, beside this file
        #      topic: com.example.phone
        #      development_topic: com.example.phone.dev

        # People that this file brings. The password is set when they are first created and left alone from then on; who is no
        # longer named is deactivated. People made elsewhere are not touched.
        users: []
        #users:
        #  - login: jane.doe@example.com
        #    password: ${JANES_FIRST_PASSWORD}
        #    must_change_password: true     # at the first sign-in, which takes a browser
        #    hotp:                          # a device whose codes follow a counter (RFC 4226)
        #      secret: ${JANES_SEED}        # Base32
        #      credential_id: "4711-0815"
        #    totp_secret: ${JANES_TOTP_SECRET}   # for tests: the Base32 secret of an authenticator app that she has from the start
        #    groups: [Staff]
        #    profile:
        #      name: Jane Doe
        #      given_name: Jane
        #      family_name: Doe
        #      email: jane.doe@example.com
        #      email_verified: true

        # Requests per minute.
        rate_limits:
          per_client: 6000
          per_address: 1200
          per_address_sign_ins: 120         # passwords tried from one address, for any user; raise it if many users share a proxy
          per_user: 60
          recovery_guesses: 100             # wrong codes and answers in all recoveries, an hour; then only known devices and networks recover
          messages: 600                     # mails, texts and calls to everybody together: what they can cost

        # Proofs of the key that a client's tokens are bound to.
        dpop:
          require_nonce: true               # the token endpoint wants a nonce of its own in them

        key_rotation:
          signs_for_days: 90
          published_days_ahead: 7
          published_days_after: 7

        """
}
