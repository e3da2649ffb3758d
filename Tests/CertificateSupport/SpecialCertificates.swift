import SwitchboardCall

/// More certificates, from a separate authority: an expired one, one with every kind of name, and one issued by an
/// intermediate authority. Two others are their own authorities.
package enum SpecialCertificates {
  /// The authority that issued the others.
  package static let authority = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBdDCCARqgAwIBAgIUNkNtuhyhPAdwl3aYJb58eGLdatEwCgYIKoZIzj0EAwIw
    HzEdMBsGA1UEAwwUU3dpdGNoYm9hcmQgVGVzdCBjYTIwIBcNMjYxMTIxMTIwNzQw
    WhgPMjEyNjEwMjgxMjA3NDBaMB8xHTAbBgNVBAMMFFN3aXRjaGJvYXJkIFRlc3Qg
    Y2EyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEIHvHkdETd6Ssq5JbNeRDKA8x
    J7nQBsKsjLfPHS7bf9F37ywIa9RNQMhoAeuL0wGyqbgHhrEIx2M60OUcViqzmKMy
    MDAwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQU2fRvhmRC9APjf2gvk+4ulw3m
    eVgwCgYIKoZIzj0EAwIDSAAwRQIgRDRZtv1wQiWus085rTvIqx6zTqstgao759Fu
    VgYyMQ0CIQCvutF98eyA7yBz0Bpzzhh31L6IvQ2alVWjUWFQ90+Q5g==
    -----END CERTIFICATE-----
    """
  )

  /// For localhost and 127.0.0.1, expired in 2021.
  package static let expiredCertificate = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBgDCCASagAwIBAgIBAjAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRTd2l0Y2hi
    b2FyZCBUZXN0IGNhMjAeFw0yMDAxMDEwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMBQx
    EjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNA1
    LjQnEk2c6OagxK4eFXeUD7E7yvSCUbS7qdztMiCAn92rTXYwLBbwqE3hW/X7Ruxy
    k/BLhmdPiVmTpqK61ZSjXjBcMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAd
    BgNVHQ4EFgQUd+NTojf9BsHX3X8VddUWo1hYNa4wHwYDVR0jBBgwFoAU2fRvhmRC
    9APjf2gvk+4ulw3meVgwCgYIKoZIzj0EAwIDSAAwRQIhAKT3DlQZq4RIhiM0izB5
    IJB79n0gPq+Z3cKh+axub45YAiAOWVtJG7y5f2DzZjzu58LWBtLUqrWs5CPyQNG5
    tq18JQ==
    -----END CERTIFICATE-----
    """
  )

  /// Its key.
  package static let expiredKey = source(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWMHCiFleskzFz981
    +MEDCJaAHufBonOcEioYnT2Vkt6hRANCAATQNS40JxJNnOjmoMSuHhV3lA+xO8r0
    glG0u6nc7TIggJ/dq012MCwW8KhN4Vv1+0bscpPwS4ZnT4lZk6aiutWU
    -----END PRIVATE KEY-----
    """
  )

  /// For a client, with names of four kinds.
  package static let namedCertificate = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIB4TCCAYigAwIBAgIBAzAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRTd2l0Y2hi
    b2FyZCBUZXN0IGNhMjAgFw0yNTAxMDEwMDAwMDBaGA8yMTI1MDEwMTAwMDAwMFow
    FzEVMBMGA1UEAwwMbmFtZWQgY2xpZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
    QgAE+z0fz7/22tZdVW/o4TaJ4IV0Y5UBnqVmrJcKgsTBMLcl5ROdMMxZr+//0HuM
    akeelDcaecQqBhZmpv27fAjnx6OBujCBtzB1BgNVHREEbjBsghdjbGllbnQuc3dp
    dGNoYm9hcmQudGVzdIYgc3BpZmZlOi8vc3dpdGNoYm9hcmQudGVzdC9jbGllbnSB
    F2NsaWVudEBzd2l0Y2hib2FyZC50ZXN0hwQKAAABhxAgAQ24AAAAAAAAAAAAAAAB
    MB0GA1UdDgQWBBTXBnIStj1y3OfF5TXact604ig/AzAfBgNVHSMEGDAWgBTZ9G+G
    ZEL0A+N/aC+T7i6XDeZ5WDAKBggqhkjOPQQDAgNHADBEAiAvy6S7MezlfoEcZMO5
    H7Xg3YL1mapg/xhICdkfSfEQYgIgPWSI/IYw6lyf6JYuCDvIL/e4XqCMx0jkGbcm
    1VWNZJU=
    -----END CERTIFICATE-----
    """
  )

  /// Its key.
  package static let namedKey = source(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQga//TzPafH7hQSghM
    8bPHfIPZTCW/V+C1q1MVlADFAquhRANCAAT7PR/Pv/ba1l1Vb+jhNonghXRjlQGe
    pWaslwqCxMEwtyXlE50wzFmv7//Qe4xqR56UNxp5xCoGFmam/bt8COfH
    -----END PRIVATE KEY-----
    """
  )

  /// A key, its certificate for localhost and 127.0.0.1, and the intermediate certificate.
  package static let keyWithChain = source(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEyuE4WS0XXjob8B8
    LDfJoN7BsItR+Jqqw7pHCrZnHOahRANCAARzbnaJRbfp1Lhghb+9SDMJY20OaMjH
    l2e0ItOiaCnv1VgmenZGKjEm2roEFVnuzKb0QYOzJXO0P4O/7ggKdtq8
    -----END PRIVATE KEY-----
    -----BEGIN CERTIFICATE-----
    MIIBizCCATGgAwIBAgIBBDAKBggqhkjOPQQDAjAoMSYwJAYDVQQDDB1Td2l0Y2hi
    b2FyZCBUZXN0IGludGVybWVkaWF0ZTAgFw0yNTAxMDEwMDAwMDBaGA8yMTI1MDEw
    MTAwMDAwMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZI
    zj0DAQcDQgAEc252iUW36dS4YIW/vUgzCWNtDmjIx5dntCLTomgp79VYJnp2Riox
    Jtq6BBVZ7sym9EGDsyVztD+Dv+4ICnbavKNeMFwwGgYDVR0RBBMwEYIJbG9jYWxo
    b3N0hwR/AAABMB0GA1UdDgQWBBT6BZBtJWWAj2ASN1ZdM6FXIWcJzjAfBgNVHSME
    GDAWgBQA+siEPNIt4wCxn7QA6Ip8l0tVAjAKBggqhkjOPQQDAgNIADBFAiB9eXxc
    nrnOO6fYU1pvJZUuYhlAfb00oEg+t7u/qS46bQIhAI5uXqYx2+jl1aicZJK0blGZ
    N8KIx3lYy2bALih15dtF
    -----END CERTIFICATE-----
    -----BEGIN CERTIFICATE-----
    MIIBizCCATGgAwIBAgIBATAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRTd2l0Y2hi
    b2FyZCBUZXN0IGNhMjAgFw0yNTAxMDEwMDAwMDBaGA8yMTI1MDEwMTAwMDAwMFow
    KDEmMCQGA1UEAwwdU3dpdGNoYm9hcmQgVGVzdCBpbnRlcm1lZGlhdGUwWTATBgcq
    hkjOPQIBBggqhkjOPQMBBwNCAAT+XRymNBQe+thNp+ii7t7XrtTzIIxrvTMzmRbS
    rSXyupBKYiQRD3dw5TkipFbooZEAOpNnTd1DafNtYK6ziUwIo1MwUTAPBgNVHRMB
    Af8EBTADAQH/MB0GA1UdDgQWBBQA+siEPNIt4wCxn7QA6Ip8l0tVAjAfBgNVHSME
    GDAWgBTZ9G+GZEL0A+N/aC+T7i6XDeZ5WDAKBggqhkjOPQQDAgNIADBFAiEAvvLE
    rN3DbLXx5QmGHyWSm40XJd8LBfy0gGX5cbKnccQCIHuUpjDktAPoINJfJG3R1jGY
    yRo5m44xFrv7qgV3hMOm
    -----END CERTIFICATE-----
    """
  )

  /// Issued by itself for `name.switchboard.test`, which only the subject says, and its key.
  package static let commonName = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBkjCCATegAwIBAgIUagy1nrvOpHTRp97UXCmE/pEyzYwwCgYIKoZIzj0EAwIw
    IDEeMBwGA1UEAwwVbmFtZS5zd2l0Y2hib2FyZC50ZXN0MCAXDTI2MTEyNzAyMTUz
    N1oYDzIxMjYxMTAzMDIxNTM3WjAgMR4wHAYDVQQDDBVuYW1lLnN3aXRjaGJvYXJk
    LnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATqlb/kopAEdvlmDVP9k+YB
    oIfdVIgORgDHpbSK6/hHQZYS+LyzXEOVSEZAc+xkclAs718sUjpmwKZC2Oq8KrYE
    o00wSzAdBgNVHQ4EFgQUwn3egiRgSS+3bxgwAzLcNxDLc4owHwYDVR0jBBgwFoAU
    wn3egiRgSS+3bxgwAzLcNxDLc4owCQYDVR0TBAIwADAKBggqhkjOPQQDAgNJADBG
    AiEArn9kiO8BlIdFJFbXxjnp7TJeEXKN3ganRrhmR+ZWmP8CIQCdQjA86JBCfXtO
    9c7tqRUTER43rwvrbNkZXloRGP/DRQ==
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgknYYzd4tbTaomceA
    OA5ul7yPXCmVjcwGMjUHXDQCHmShRANCAATqlb/kopAEdvlmDVP9k+YBoIfdVIgO
    RgDHpbSK6/hHQZYS+LyzXEOVSEZAc+xkclAs718sUjpmwKZC2Oq8KrYE
    -----END PRIVATE KEY-----
    """
  )

  /// Issued by itself for `na*.switchboard.test` and `*.whole.test`, and its key.
  package static let starred = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBlzCCAT6gAwIBAgIUK+qpFf/rsekHObwSLTalgH1FtLwwCgYIKoZIzj0EAwIw
    DDEKMAgGA1UEAwwBeDAgFw0yNjExMjcwMjE1MzdaGA8yMTI2MTEwMzAyMTUzN1ow
    DDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKRNYhBAR0JV
    v5apK4y2pMNbyoCxfHP/N7Ctr4JEze/vZnssuscrQCe/erATDiaw/7Ktjjm5Fsgb
    5YTEzu+wZZ+jfDB6MB0GA1UdDgQWBBQyQHqWPR+4zWnRxK6i8WceMGkgdTAfBgNV
    HSMEGDAWgBQyQHqWPR+4zWnRxK6i8WceMGkgdTAtBgNVHREEJjAkghRuYSouc3dp
    dGNoYm9hcmQudGVzdIIMKi53aG9sZS50ZXN0MAkGA1UdEwQCMAAwCgYIKoZIzj0E
    AwIDRwAwRAIgcRjMLTMYDGIU4FdGnaAeVfhoU+oXimzLlcBJrArRMYcCIEEbpubp
    zsCYK/yK9RmrieaRLOYA8Iq/Y9ql3R62fM2A
    -----END CERTIFICATE-----
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgY0shZWQmYviT9UT5
    iJGIwTcDk0oQcm/J8oQIIYaUACyhRANCAASkTWIQQEdCVb+WqSuMtqTDW8qAsXxz
    /zewra+CRM3v72Z7LLrHK0Anv3qwEw4msP+yrY45uRbIG+WExM7vsGWf
    -----END PRIVATE KEY-----
    """
  )

  package static let expired = TLSCredentials(certificateChain: expiredCertificate, privateKey: expiredKey)
  package static let named = TLSCredentials(certificateChain: namedCertificate, privateKey: namedKey)
  package static let chained = TLSCredentials(certificateChain: keyWithChain, privateKey: keyWithChain)

  private static func source(_ text: String) -> PEMSource { .bytes(Array(text.utf8)) }
}
