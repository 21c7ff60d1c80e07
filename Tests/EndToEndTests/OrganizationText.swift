/// Org files, and parts of them, that several tests use.
enum OrganizationText {
    /// Returns the beginning of an org file: a name, a group, policies for one and for two factors, and the server `default` up to the
    /// first of its access policies.
    static func head(name: String, group: String) -> String {
        """
        name: \(name)
        origin: http://localhost:8080
        groups: [{name: \(group)}]
        sign_on_policies:
          - name: one-factor
            rules: [{name: All, require: one_factor}]
          - name: two-factors
            rules: [{name: All, require: two_factors}]
        authorization_servers:
          - id: default
            audience: api://default
            access_policies:
        """
    }

    /// Returns a complete org file for Jane, who signs in to an application with her password alone.
    ///
    /// - Parameters:
    ///   - name: The organization's name.
    ///   - origin: The server's origin.
    ///   - settings: Further lines at the top level.
    ///   - application: Further lines of the application `app`, which every user is assigned to.
    static func passwordOnly(name: String, origin: String, settings: String = "", application: String) -> String {
        """
        name: \(name)
        origin: \(origin)
        sign_on_policies:
          - name: one-factor
            rules: [{name: All, require: one_factor}]
        password_policy: {scrypt_log_n: 14}
        \(settings)
        authorization_servers:
          - id: default
            name: Default
            audience: api://default
            access_policies:
              - name: All
                rules: [{name: All}]
        applications:
          - id: app
            name: App
            assignment: everyone
            sign_on_policy: one-factor
        \(application.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
        users:
          - {login: jane@example.com, password: Correct-Horse-7, profile: {name: Jane, email: jane@example.com}}
        """
    }
}
