internal import JOSE

/// The RSA key that every sandbox signs with first, because the generation of a key would delay the start. The key is public and must not
/// be used outside sandboxes: a real server creates its own keys and cannot load this key. A sandbox listens on the loopback interface
/// only.
enum SandboxOnlyKey {
    /// The private key in PKCS #8, without the PEM boundary lines.
    private static let publiclyKnown = """
        MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQClGn+HyXlP7C4o
        TQLrIHzNZiPqa/mr86xG70LNfZsziMEsGjjQAXR8U/xQPk5lVC6xP/tqKnqaINTl
        MtNTO07ENPwEYpOcHrWqSX89jNvu3rjiJsS3tCP3jg3MaDHXshiIJh+3ewG0wu4x
        3ypUqgF3lut4S8Fp5cV59rPl47AwBRA3zZgIrdaYYM+zg+mFvttb3Zo5zKp3kbGm
        6+6Kno/fWI7BFDM1dnHCG6HD5SdS2EhtgxQa6rKy/N6PF7WpxTUDcfbbFGFGfhhA
        JSWjIa5P1fY3IIBx+TPOUfIzj91g7irKkPNs1C+9rjYgLoftZd6rgNXANZYgRMQN
        bDKa08+VAgMBAAECggEAHxBrBdatzVCUB6+juK8iZDgPUmRR890zYR5T3JuBN9NH
        ez+MyHA5pUndC5EJiY2rAl0WNg27hyPdwqkLM1oRkh+g+kc83C84AYv2FZPa7qj3
        ss9WDHVnngSbioXhOOLwtC8uIQTTF5pknDwPuCHLiF98OuRQBhd+DhpRk1PBeusv
        k/coEU676/crNeY9wjX9+cOLnB2i+F5HPsyHuB1dpHM8nxzh3CxIjWeILCsx/5pM
        BFxn5XAoM1fK/RqqNZuJY9KERCUh+cOL08uGbVmczJjYpdfhnR24OdGx4DTUAQGz
        1dML7t8lcMq85j29PGspb5TWriLT3WiK79EnNeZcOQKBgQDS+2JClMNpbdjH7tcC
        j0fBFPxnPJTa8IJw6822Jd5pa9h54XBHEwc+WLE+qFwdL3SVL3ApkWHfEXZBhOaE
        EWfPgL8wWn+RX8BBBb1DVl80DXzW2cIw119vPAqYNXMLEc1ZydXeoa/vqMILGtN2
        3YmAIS1PqPxI9WxrONuVyYq9XQKBgQDIVRAigCdAb/hextHqfOoFmUO2lya7nMVC
        BuKaubwCGjBE6FQp+w7Wsvxp+a6P1BDFy2Altv64jviB1aMuZxajNdUQ0twSdVlh
        jA/yGgTKZy+Jwu5eMvL4ol7GwcV5paP/ra8CLClrJZBlEcSbMABJ/f8KmqwwLL3R
        SLNdt93/mQKBgGpwZl8evAMpZs9fAFwLOvD/DGNs3dAivDwJyotVSYK35MuAX2uL
        /wCGME1jFK2orlFBUH24Gb83CQj+6mjAezXlRw826NrHiq+DHLunDHqvP0cJLv4C
        +eOdT98AQBzai1X8DIi325G1+sctbneuRls84aYpo7WPE3Z4hddoiTUFAoGAQQFp
        NOjE0+IBhC+b2i0ieyKamFs/1E0wrRYy3eY7HauF0jZZaS3wSLbXtUOx4zX7I1O1
        JUfWK+kotmiuhNYqwFcthkIF629sy3x5iCPtPghxopBAbQy3TvrRKkmiXLDlIIgp
        a9kMr5oG2uUDGSBgV6I16ij6ir9Z8NlYaqbJQLECgYAH7omFPh6/+HkmIlwUp9hp
        MGG/4hdLWFHEh73CMSx9obyMRo73R+Gf71vQklKjZBGAIOXLyE6Z46Ibva8J8EVH
        Iae6TPBeQwmVI5H8kGHD+IPiTTs0Ph2QCRGwSvjLKUPi9Pr8oSEYn5xAqcPOu3u+
        Mjc7mt2rueojzFzJPWmNAA==
        """

    static func signingKey() throws -> SigningKey {
        let label = "PRIVATE KEY"
        return try SigningKey(pem: "-----BEGIN \(label)-----\n\(publiclyKnown)\n-----END \(label)-----\n", algorithm: .rs256)
    }
}
