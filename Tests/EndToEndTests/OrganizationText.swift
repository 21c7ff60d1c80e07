/// The beginning of org files that several tests write.
enum OrganizationText {
    /// A name, a group, policies for one factor and for two, and the server `default` up to the first of its access policies.
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
}
