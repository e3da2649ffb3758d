import Switchboard

/// The certificates of the tests, good for a hundred years. Their keys are public: they secure nothing.
enum TestAuthority {
  /// What `--use_test_ca` trusts.
  static let certificate = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBmTCCAT+gAwIBAgIUP0qLB0T4+oxufY4U0epcsI8WRSowCgYIKoZIzj0EAwIw
    ITEfMB0GA1UEAwwWU3dpdGNoYm9hcmQgSW50ZXJvcCBjYTAgFw0yNjExMjExMzMz
    MzdaGA8yMTI2MTAyODEzMzMzN1owITEfMB0GA1UEAwwWU3dpdGNoYm9hcmQgSW50
    ZXJvcCBjYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGYFOu1n2bWJBSyGd70R
    HkH/TvAoGT4riFl3vQ6fTXdOSJjPvJXzk9A7twPrF1q8HaH1veWJ/mCDTqWwTved
    CF+jUzBRMB0GA1UdDgQWBBT2a1NzyQHAPNYMuAq6p+3hszhcrDAfBgNVHSMEGDAW
    gBT2a1NzyQHAPNYMuAq6p+3hszhcrDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
    BAMCA0gAMEUCIQDEhqNGDWe9gR8QaKykf7EeuNcwj4NorAfuzANnxkpiKAIgP0MU
    CX8aqbJ8a0osvCmd0cKFIXnfm3zp3r3qRgHl6j8=
    -----END CERTIFICATE-----
    """
  )

  /// What a server shows that was given no certificate: for localhost, switchboard.test, names under test.google.fr,
  /// which is what interoperability tests call their servers, 127.0.0.1 and ::1.
  static let server = TLSCredentials(
    certificateChain: source(
      """
      -----BEGIN CERTIFICATE-----
      MIIB0DCCAXWgAwIBAgIUauyP4OAxVZu32BsOQGJYSYa1XV8wCgYIKoZIzj0EAwIw
      ITEfMB0GA1UEAwwWU3dpdGNoYm9hcmQgSW50ZXJvcCBjYTAgFw0yNjExMjExMzMz
      MzdaGA8yMTI2MTAyODEzMzMzN1owFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYH
      KoZIzj0CAQYIKoZIzj0DAQcDQgAEoIctjRResWC7Z0bNDZyMRCcCsvXkDGtBxFzZ
      2CXD/z522e2AHLoHs/805GDyzaguFEKEwKSWVXaK6kje5qGvB6OBlTCBkjBQBgNV
      HREESTBHgglsb2NhbGhvc3SCECoudGVzdC5nb29nbGUuZnKCEHN3aXRjaGJvYXJk
      LnRlc3SHBH8AAAGHEAAAAAAAAAAAAAAAAAAAAAEwHQYDVR0OBBYEFKK+t72E6eM5
      IYB5nHQjsT7s79faMB8GA1UdIwQYMBaAFPZrU3PJAcA81gy4Crqn7eGzOFysMAoG
      CCqGSM49BAMCA0kAMEYCIQD+VGNYKer7+VzTp5+r1VRX4WooBGTg4r5JcQty4Ril
      AAIhAObB3v/3CuRD7H0WzoEdk4Qpk3mCTZh3PS4G3xoKDybR
      -----END CERTIFICATE-----
      """
    ),
    privateKey: source(
      """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFAxZUvEG+ktS5EBs
      Qb7lplnEkU3fUwAeSpTCxid+xnihRANCAASghy2NFF6xYLtnRs0NnIxEJwKy9eQM
      a0HEXNnYJcP/PnbZ7YAcugez/zTkYPLNqC4UQoTApJZVdorqSN7moa8H
      -----END PRIVATE KEY-----
      """
    )
  )

  private static func source(_ text: String) -> PEMSource { .bytes(Array(text.utf8)) }
}
