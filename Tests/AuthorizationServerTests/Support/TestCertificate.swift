/// A self-signed certificate for `localhost` and its key, which only these tests trust. It is valid for a hundred years.
enum TestCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBnDCCAUGgAwIBAgIUNW3GFoideFRSHpLC4MFvl9ZaLqMwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAzMjYwN1oYDzIxMjYxMDI4
        MDMyNjA3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATHhwJG8hyM8oRZbrsepUg3/ZsxB4jbU81taueS59HLzmHXeBY2e4l5
        RVS/66Gf+hm4cAwc8VAkR7vfni+pAXDJo28wbTAdBgNVHQ4EFgQU8dSnK6wPK+sN
        Xu2qLQG2bGPrQQ0wHwYDVR0jBBgwFoAU8dSnK6wPK+sNXu2qLQG2bGPrQQ0wDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
        zj0EAwIDSQAwRgIhALED4MmKPL5/67Cao2trkAySAbYOgTrsL6UuyBxJqG3xAiEA
        x+u2fLeFIlSOVtNZCEcHOVdNdnjaT2LTmh4pTfIe0hA=
        -----END CERTIFICATE-----
        """

    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgultR6EJ5IIdZaBJK
        ybl2YLpYS8bVG+IRAkOZnQrjrq2hRANCAATHhwJG8hyM8oRZbrsepUg3/ZsxB4jb
        U81taueS59HLzmHXeBY2e4l5RVS/66Gf+hm4cAwc8VAkR7vfni+pAXDJ
        -----END PRIVATE KEY-----
        """
}
