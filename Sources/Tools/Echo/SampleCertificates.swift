import Switchboard

/// The credentials for `--tls`: a certificate for localhost and the authority that issued it. The key is public, so it
/// protects nothing. Valid for a hundred years.
enum SampleCertificates {
  /// The authority that clients trust.
  static let authority = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBkjCCATmgAwIBAgIUXV5dii6zxbegCsevYYN6OnJOlnowCgYIKoZIzj0EAwIw
    HjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgRWNobyBDQTAgFw0yNjExMjEyMjMwMzBa
    GA8yMTI2MTAyODIyMzAzMFowHjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgRWNobyBD
    QTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABA66IxwL+Tvb9FCj9fZFMXhNk+TM
    9EAVa8PyrGcwP5y3WXdyKPcqch3IoN5lqj/dhf+dqNR2MWzxZTOFVo3W+hijUzBR
    MB0GA1UdDgQWBBQamGsfR3uDkGlEATImnsR1aWHt2jAfBgNVHSMEGDAWgBQamGsf
    R3uDkGlEATImnsR1aWHt2jAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cA
    MEQCIAThVpzHXAUV2PR+ZXxRBb86x0CDYim+fDL5mfITa8B4AiBwaR+2q6CwrHmt
    emcHd2ivax/6BvvrlFEsqZ9suLGvew==
    -----END CERTIFICATE-----
    """
  )

  /// The name in the certificate, which clients expect on any host.
  static let serverName = "localhost"

  /// The server's certificate and key.
  static let server = TLSCredentials(
    certificateChain: source(
      """
      -----BEGIN CERTIFICATE-----
      MIIBpzCCAUygAwIBAgIUZcgAA7pnFpYr7i3Twdupsfrb1JowCgYIKoZIzj0EAwIw
      HjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgRWNobyBDQTAgFw0yNjExMjEyMjMwMzBa
      GA8yMTI2MTAyODIyMzAzMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZI
      zj0CAQYIKoZIzj0DAQcDQgAEHJ9XJFoaMIlPjyTB2Pc7PJ3+MKWIxkWaSsO1og2T
      MZ6IJif/hjNs5/BTiwUrLIjbPGXbfmY8nCRMPAkej8lJ7qNwMG4wLAYDVR0RBCUw
      I4IJbG9jYWxob3N0hwR/AAABhxAAAAAAAAAAAAAAAAAAAAABMB0GA1UdDgQWBBT1
      ZoSbrw/GamywTkQng0bUSDytsTAfBgNVHSMEGDAWgBQamGsfR3uDkGlEATImnsR1
      aWHt2jAKBggqhkjOPQQDAgNJADBGAiEAtQLQtJSb9j9Ep0zvqnUtzkX7BndF4+HS
      szipJ9goLKECIQCVKomHwT37cD9oW8TZgO2k3DASNt2emMJmwTxcacpPAg==
      -----END CERTIFICATE-----
      """
    ),
    privateKey: source(
      """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQguxK/KHlku/8S5TO7
      XlqeGzv2TpVZ4HVt8stbcCSM8VehRANCAAQcn1ckWhowiU+PJMHY9zs8nf4wpYjG
      RZpKw7WiDZMxnogmJ/+GM2zn8FOLBSssiNs8Zdt+ZjycJEw8CR6PyUnu
      -----END PRIVATE KEY-----
      """
    )
  )

  private static func source(_ pem: String) -> PEMSource { .bytes(Array(pem.utf8)) }
}
