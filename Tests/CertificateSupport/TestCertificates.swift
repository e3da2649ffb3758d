import SwitchboardCall

/// Certificates for tests, valid for a hundred years and issued by a test authority.
package enum TestCertificates {
  /// The authority that issued all of them except for the stranger's.
  package static let authority = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBkzCCATmgAwIBAgIUSF4y7qw261TJoTWzNMnNjB9QNSswCgYIKoZIzj0EAwIw
    HjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgVGVzdCBjYTAgFw0yNjExMjEwOTUzNDZa
    GA8yMTI2MTAyODA5NTM0NlowHjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgVGVzdCBj
    YTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNLJTMaotd3mtFyNh1sxqrr/VPQz
    7Ge+/GM8AjSlWWKwY4ZZzi0C2Knhv1BEW3sf/CqpI+93KsMv3siuKb+lk7+jUzBR
    MB0GA1UdDgQWBBSUq/sNtEv6XcrGymAnDPdWi476sDAfBgNVHSMEGDAWgBSUq/sN
    tEv6XcrGymAnDPdWi476sDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gA
    MEUCIQDS06hUGCiXCVXWnqmjJHZ3+V+/5RP7AnmeC5qEfDqqEAIgdgH6BlLquuH2
    0mQ5tR5csSG0iWUdUEWXbAYqQlATleo=
    -----END CERTIFICATE-----
    """
  )

  /// An authority that issued none of them.
  package static let stranger = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBmTCCAT+gAwIBAgIUB5AHedai/Xbu8+eO627TAgK5e5UwCgYIKoZIzj0EAwIw
    ITEfMB0GA1UEAwwWU3dpdGNoYm9hcmQgVGVzdCBvdGhlcjAgFw0yNjExMjEwOTUz
    NDZaGA8yMTI2MTAyODA5NTM0NlowITEfMB0GA1UEAwwWU3dpdGNoYm9hcmQgVGVz
    dCBvdGhlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPNGTpHO11LL/vvGQYDK
    YUvoAby3jKB0gguvsz1Z/35koMzKDuDXrolqb/oCiiWSuobAlFw6NQtyO/8XI1Ds
    E76jUzBRMB0GA1UdDgQWBBSQ1sgGibsBTmtGkbc0X5Vz3lvTfjAfBgNVHSMEGDAW
    gBSQ1sgGibsBTmtGkbc0X5Vz3lvTfjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
    BAMCA0gAMEUCIQCkIkR813nJjvtUZaJ+cLiYMea3Swjvjoagvg3lIK7h1QIgPfg+
    yl2KVNmEMZzGVVdI1WATxR2AK/urvUjFJaamLLk=
    -----END CERTIFICATE-----
    """
  )

  /// The certificate for localhost, switchboard.test, 127.0.0.1 and ::1.
  package static let serverCertificate = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBuTCCAWCgAwIBAgIUAyikAfA9BfDkcQmSm5CtKQc6I5AwCgYIKoZIzj0EAwIw
    HjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgVGVzdCBjYTAgFw0yNjExMjEwOTUzNDZa
    GA8yMTI2MTAyODA5NTM0NlowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAETImKBnxN9k7na2VQkQBYmHtdaEAcq/wrXsHNGV8+
    wttAUreln3jyqMeGo27t2dLqhZZhj9sl5dRjK+LM0f/Z/KOBgzCBgDA+BgNVHREE
    NzA1gglsb2NhbGhvc3SCEHN3aXRjaGJvYXJkLnRlc3SHBH8AAAGHEAAAAAAAAAAA
    AAAAAAAAAAEwHQYDVR0OBBYEFCgJoAkFpHxZXrRukvsO5tmK20O9MB8GA1UdIwQY
    MBaAFJSr+w20S/pdysbKYCcM91aLjvqwMAoGCCqGSM49BAMCA0cAMEQCIF3xVdMd
    4NWltHlStdKzuURNh957Tma4LvGfjXzRf3jzAiBBVbW4otvIzur4xVvjkZeKTgpn
    Jx4D1YhdFCsyJp0PjA==
    -----END CERTIFICATE-----
    """
  )

  /// Its key.
  package static let serverKey = source(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqZrRxMzeWqtot1Ob
    pIbpg9K4A7Fab37RtHL832TnDsahRANCAARMiYoGfE32TudrZVCRAFiYe11oQByr
    /Ctewc0ZXz7C20BSt6WfePKox4ajbu3Z0uqFlmGP2yXl1GMr4szR/9n8
    -----END PRIVATE KEY-----
    """
  )

  /// The certificate for localhost and 127.0.0.1.
  package static let renewedCertificate = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBkjCCATigAwIBAgIUAyikAfA9BfDkcQmSm5CtKQc6I5IwCgYIKoZIzj0EAwIw
    HjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgVGVzdCBjYTAgFw0yNjExMjEwOTUzNDZa
    GA8yMTI2MTAyODA5NTM0NlowEjEQMA4GA1UEAwwHcmVuZXdlZDBZMBMGByqGSM49
    AgEGCCqGSM49AwEHA0IABPYJGsJRBFoNYvSwMk3QQjg8KDTdSEVx8Cd6vYaofQEs
    2hgRBCX56TJCPTur7JPoZlYDeNwDXEqlLRgrp6TZobijXjBcMBoGA1UdEQQTMBGC
    CWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUEag+fNq3Dmuf4IC6PndBeBQP1i4w
    HwYDVR0jBBgwFoAUlKv7DbRL+l3KxspgJwz3VouO+rAwCgYIKoZIzj0EAwIDSAAw
    RQIgK+rAaFCT69FVG6jeawsziEynsWKQXF4vJz+YjWFHyHECIQD6FfCAmDV177g+
    6HXIhy0C/rOl1/Ag5zrUi3OGUW4/Mg==
    -----END CERTIFICATE-----
    """
  )

  /// Its key.
  package static let renewedKey = source(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGcJTJmsECri5BNi5
    h7TcTG/4tQ6Gl2i+lCPjWDcwzdGhRANCAAT2CRrCUQRaDWL0sDJN0EI4PCg03UhF
    cfAner2GqH0BLNoYEQQl+ekyQj07q+yT6GZWA3jcA1xKpS0YK6ek2aG4
    -----END PRIVATE KEY-----
    """
  )

  /// The certificate for client.switchboard.test.
  package static let clientCertificate = source(
    """
    -----BEGIN CERTIFICATE-----
    MIIBnTCCAUSgAwIBAgIUAyikAfA9BfDkcQmSm5CtKQc6I5EwCgYIKoZIzj0EAwIw
    HjEcMBoGA1UEAwwTU3dpdGNoYm9hcmQgVGVzdCBjYTAgFw0yNjExMjEwOTUzNDZa
    GA8yMTI2MTAyODA5NTM0NlowFjEUMBIGA1UEAwwLdGVzdCBjbGllbnQwWTATBgcq
    hkjOPQIBBggqhkjOPQMBBwNCAAQ7xyIrfi1dvUrjyEBqu5M6qStynYyfwoa8KBrU
    FaG3dATCnpUj1zQ0TmddbpOuMzZFr7XCSW8FLaqbB3KccafBo2YwZDAiBgNVHREE
    GzAZghdjbGllbnQuc3dpdGNoYm9hcmQudGVzdDAdBgNVHQ4EFgQU+aCnVSypb8lK
    dYTgAFUna40QfEIwHwYDVR0jBBgwFoAUlKv7DbRL+l3KxspgJwz3VouO+rAwCgYI
    KoZIzj0EAwIDRwAwRAIgOWNRQ7j1wlz6/DkBuWxRjmRchzy8AJu4X9zWAbi6Fd8C
    ICx9GVDDFLJQKymYXGqQIE6wmnA3PY9X7pFs9zpxaQHg
    -----END CERTIFICATE-----
    """
  )

  /// Its key.
  package static let clientKey = source(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+chXBbcgavUwBq1y
    5viNp1nuvlgwMEmezEuIT3bIWWOhRANCAAQ7xyIrfi1dvUrjyEBqu5M6qStynYyf
    woa8KBrUFaG3dATCnpUj1zQ0TmddbpOuMzZFr7XCSW8FLaqbB3KccafB
    -----END PRIVATE KEY-----
    """
  )

  package static let server = TLSCredentials(certificateChain: serverCertificate, privateKey: serverKey)
  package static let renewed = TLSCredentials(certificateChain: renewedCertificate, privateKey: renewedKey)
  package static let client = TLSCredentials(certificateChain: clientCertificate, privateKey: clientKey)

  private static func source(_ text: String) -> PEMSource { .bytes(Array(text.utf8)) }
}
