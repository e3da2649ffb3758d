/// The connection flags, which all verbs that call a server have.
enum TargetFlags {
  static let plaintext = Flag(
    "--plaintext",
    help: "Connect without TLS. The default for Unix sockets, localhost and loopback addresses."
  )
  static let tls = Flag("--tls", help: "Connect with TLS. The default for everything else.")
  static let roots = Flag(
    "--cacert",
    value: "FILE",
    completion: .file,
    help: "Trust the authorities in this PEM file instead of the system's."
  )
  static let certificate = Flag(
    "--cert",
    value: "FILE",
    completion: .file,
    help: "Send this client certificate, with its chain, in PEM."
  )
  static let key = Flag(
    "--key",
    value: "FILE",
    completion: .file,
    help: "The key of that certificate, in PEM."
  )
  static let serverName = Flag(
    "--server-name",
    value: "NAME",
    help: "Expect this name in the server's certificate instead of the host's."
  )
  static let insecure = Flag(
    "--insecure-skip-verify",
    help: "Connect with TLS without checking the server's certificate: anyone could answer in its place."
  )
  static let authority = Flag("--authority", value: "NAME", help: "Send this as :authority.")
  static let header = Flag(
    "-H",
    "--header",
    value: "NAME:VALUE|@FILE",
    repeats: true,
    help:
      "Send this metadata, with requests for descriptors too. If NAME ends in -bin, VALUE is in base64. @FILE reads lines "
      + "of NAME:VALUE from a file: other users of this machine can see arguments, so keep tokens in one."
  )
  static let userAgent = Flag(
    "--user-agent",
    value: "TEXT",
    help: "Put this before the command's own user-agent."
  )
  static let connectTimeout = Flag(
    "--connect-timeout",
    value: "TIME",
    help: "Give up if there is no connection after TIME, such as 500ms or 3s; the default is 10s."
  )

  /// The time limit of a call, which has one name in all verbs.
  static func deadline(help text: String) -> Flag {
    Flag("-t", "--deadline", value: "TIME", help: text)
  }

  static let wireProtocol = Flag(
    "--protocol",
    value: "NAME",
    completion: .words(["grpc", "grpc-web", "connect"]),
    help: "The protocol of calls: grpc, grpc-web or connect; the default is grpc."
  )
  static let http1 = Flag(
    "--http1",
    help:
      "Use HTTP/1.1, with gRPC-Web or Connect. The requests of a call then end before its responses begin."
  )

  static let group = FlagGroup(
    "Connection",
    [
      plaintext, tls, roots, certificate, key, serverName, insecure, authority, header, userAgent,
      connectTimeout,
      wireProtocol, http1,
    ]
  )
}

extension Operand {
  /// The server that a verb calls.
  static let target = Operand(
    "TARGET",
    "The server: HOST[:PORT], unix:PATH, or any gRPC target, such as dns:///HOST:PORT; or a URL without a path, whose "
      + "scheme decides about TLS: https:// and grpcs:// with, http:// and grpc:// without."
  )
}
