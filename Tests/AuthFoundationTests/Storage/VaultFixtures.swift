/// The files of a vault that version 0.1 wrote, encrypted with the key 00 01 02 … 1f.
enum VaultFixtures {
    static let format1: [String: String] = [
        "credential-73657373696f6e2d31.json": #"""
        {"format":1,"id":"session-1","kind":"credential","parts":{"metadata":"uUPYJmvOsuIktqagNZhv8lYWL9PjGKJoifMQMfInne2OttBS\#
        0CQby/kYsjzypMORwJeSERvEenkEqK7tfjNJc81+v/Cvj1JBuh6HRfIhFl2AN5cqI8O2ClpRnfck4/pIkkcc/lU34FU0RettYhK76VU8C+4vRCa3+4DVaQ\#
        ==","token":"GgU9aJS9svVAbCxRNCJ3v54AbWPb6bBx905mibW2dV+0ZkNgegNrOd+viWd/oIl0UX1MuDGoRko7K6iIk9GFQonTIGBl3lASyPrjdWh1T\#
        9bIt1YqX5VobkIR68uRQbLFtz1cu3B6oFxA0xAK2nypL9Dgx735GaVbKiQ/2Yx92BLYEcDfXH8alsVJTmcH2O2WJ0011364rHbpXzv1mxZnD+kSCy8ec/Y\#
        Yy7FX41g4YthAo7GeyoYCYK0Z9INohJJ8YqMhWbv8aG0JFFjbOBKtDxJMyhzfrf0YfVjNOucc38tKEnfDasmC1BeUh7JUxhOV9g1cGONsW4b5C3Ede3rVR\#
        E0E0AZyxTY27jd8xxcHBVA6X4wjwLbwxoO6WBrLII247OKIazNlwhzcDg670EJxtu40eifq50nY5vhPmaG9yxWXesZ2cyS3Y4HKzn6rxfy3cqG6cg47JFw\#
        2AnBSOZi1zlBhtbpNA6MHjZEIw3ZksW/9RCmK8zOSvC32jXtfG9MdVhB3wvqLK7yEArVVfzX6TXASQ59CPwc5WDxgsMiHzkNQiYBEgMqb8LKlAczmaiUDT\#
        krOHPgiVQz3t1zuMv7AeXBOCAkvlufVfMV/qms9VZU2jkexEpfmFpaaIU976IMEi8mmNPQLXNccpf1mNGaHtGrai65anMmKQH0hwYTSWWzL6VDno048suO\#
        xptg4C5wWcPvZsAF8lRQ0U2bMe2BqIEshBrdnTqLuMc9NprHSJFIeigV82QV8Ddj/aCTGHj4Zyyh2Z90PWlAJjFNa4kmxOJjUrzlwUtvCNeCxb4jzvzEeN\#
        usmuvKUVAdBz5M22cfIYIvmp+f65VPAgyAK"}}
        """#,
        "default.json": #"""
        {"format":1,"id":"default.json","kind":"defaultToken","parts":{"content":"IZx/t6uFxGTOwU2QS2pbwc8B8R3LvtvMCriBOM02eBh+\#
        TPMSKQunmxErOaOwyQ=="}}
        """#,
        "revocation-73657373696f6e2d30.json": #"""
        {"format":1,"id":"session-0","kind":"revocation","parts":{"content":"nFK5lcYo7bc15uRiQ1MpCH7U94CSBiFSa9lUvDPr2VM0tcH24\#
        ZqcQTHoPC0D4PR2YpdsEuQBJUYa5dUj15WeW3LWLiGLAgVfgXBKx0BW6OKMYHAAIsVb7CThzozTbn+BOMgp4Ymzj3CWttUeYeNUNSkzZe31k0NG1AHU8rE\#
        qS+BlnqgyfG4omVZqjgjV/FVz455uiWMxITxqyv4Ju6szo8SwyVJav+Yrfw5XK68f+/54poah4ViGP9Y2FJ8Wc/YNDwph+b0gNAcdmbNANmqpq3MS6CjU1\#
        MIX/a1sH2mFVYTJOB/VFsUx+XHvRMgoe5wXL2enAdemIuIVEurPmQ9FD5zCp2sjq+0gWTXSSlUtWh78EJSR7nWyYtnUcQgM0XzMmzimF46IqBwweYIYud7\#
        eyixqBmH2G6EzBG/6BepXZ0SvqHyS1C+agfqh1ztNsiIRUsh2o6JI9ksnvHyt/FzATFUhG/cfNe2yrF37eehmIDOSakNIWC1XMuxwlrLjWKdWgfpdvXSkX\#
        VnaDhpap+Zay3OlbmcdMmoEfX2TBwg1EC9Tbj0mwe2y8CLTwZ7FuMb6nksvxHAk+n0aj5+4lvRymjrN8QN2zVq5ml6k8CC7llWUxE7Y81BN0zJLzzyshLh\#
        vANdSHW43YkaVQs7vfW3S3p+fZx5ofcp+7vY8UrM4LT0vjGKZKpsBpRYjrNQt9KmT00mFURXFi2jC"}}
        """#,
        "vault.json": #"""
        {"format":1,"id":"vault.json","kind":"vault","parts":{"check":"VCQREh+FGrcbddxJu9USflJKZ/Ro2G0YDboUoEtx2E6d7eGtu5pxsQG\#
        ml1XK"}}
        """#,
    ]
}
