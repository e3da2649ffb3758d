import Switchboard

/// The server that the arguments name, and the connection settings.
struct Target: Sendable {
  /// As the user wrote it.
  let text: String
  /// The target in gRPC's notation.
  let address: String
  let usesTLS: Bool
  /// What asks for TLS, if it is not the default for the host: a flag, or the scheme of a URL.
  private let reasonForTLS: String?
  var options: ChannelOptions
  /// The metadata of every call, including those for descriptors.
  let metadata: HPACKHeaders

  /// Parses the operand at an index and the flags of ``TargetFlags``.
  init(_ arguments: Arguments, at index: Int = 0) throws(Failure) {
    try self.init(arguments, text: arguments.operand(index) ?? "")
  }

  /// The same for a server that a flag names.
  init(_ arguments: Arguments, text: String) throws(Failure) {
    self.text = text
    let written = try TargetAddress(text)
    reasonForTLS = try Self.reasonForTLS(arguments, written)
    usesTLS = reasonForTLS != nil || !arguments.has(TargetFlags.plaintext) && written.usesTLS
    address = written.address(usesTLS: usesTLS)
    var options = ChannelOptions()
    // The messages of a user's own servers may be large, and they are released after printing.
    options.responseSizeLimit = 256 << 20
    options.authority = try Self.text(arguments, TargetFlags.authority, withSpaces: false)
    options.userAgentPrefix =
      try Self.text(arguments, TargetFlags.userAgent, withSpaces: true) ?? "switchboard-command"
    options.connectMinTimeout = try arguments.duration(TargetFlags.connectTimeout) ?? .seconds(10)
    options.security = usesTLS ? .tls(try Self.tls(arguments)) : .plaintext
    options.wireProtocol = try Self.wireProtocol(arguments)
    if arguments.has(TargetFlags.http1) {
      guard options.wireProtocol != .grpc else {
        throw .usage("--http1 needs --protocol grpc-web or --protocol connect: gRPC itself needs HTTP/2")
      }
      options.httpVersion = .http1
    }
    // The command reports the failures of its calls itself.
    options.logger = arguments.has(TargetFlags.certificate) ? FlagLog.ofChannels() : .quiet
    self.options = options
    metadata = try HPACKHeaders(arguments: arguments.all(TargetFlags.header))
  }

  /// The value of a flag, which must be valid in a header.
  private static func text(_ arguments: Arguments, _ flag: Flag, withSpaces: Bool) throws(Failure) -> String?
  {
    guard let text = arguments[flag] else { return nil }
    let lowest: UInt8 = withSpaces ? 0x20 : 0x21
    guard !text.isEmpty, text.utf8.allSatisfy({ (lowest...0x7E).contains($0) }) else {
      throw .usage("\(flag.name) is empty or has characters that a header cannot have: '\(text)'")
    }
    return text
  }

  private static func wireProtocol(_ arguments: Arguments) throws(Failure) -> CallProtocol {
    switch arguments[TargetFlags.wireProtocol] {
    case nil, "grpc"?: .grpc
    case "grpc-web"?: .grpcWeb
    case "connect"?: .connect
    case let other?: throw .usage("--protocol needs one of grpc, grpc-web, connect, not '\(other)'")
    }
  }

  private static func reasonForTLS(
    _ arguments: Arguments,
    _ written: TargetAddress
  ) throws(Failure) -> String? {
    let wantsTLS = [
      TargetFlags.tls, TargetFlags.roots, TargetFlags.certificate, TargetFlags.key, TargetFlags.serverName,
      TargetFlags.insecure,
    ].first { arguments.has($0) }?.name
    let scheme = written.scheme.map { "\($0)://" }
    let (forTLS, against) =
      written.schemeUsesTLS == true ? (wantsTLS ?? scheme, nil) : (wantsTLS, scheme)
    if let forTLS, let other = arguments.has(TargetFlags.plaintext) ? TargetFlags.plaintext.name : against {
      throw .usage("\(other) and \(forTLS) contradict each other")
    }
    return forTLS
  }

  private static func tls(_ arguments: Arguments) throws(Failure) -> ClientTLS {
    var tls = ClientTLS(serverNameOverride: arguments[TargetFlags.serverName])
    tls.trustRoots = arguments[TargetFlags.roots].map { .file($0) }
    switch (arguments[TargetFlags.certificate], arguments[TargetFlags.key]) {
    case (nil, nil): break
    case (let certificate?, let key?):
      tls.credentials = TLSCredentials(certificateChain: .file(certificate), privateKey: .file(key))
    case (nil, _): throw .usage("--key needs --cert")
    case (_, nil): throw .usage("--cert needs --key")
    }
    if arguments.has(TargetFlags.insecure) {
      guard tls.trustRoots == nil else {
        throw .withoutEffect(TargetFlags.roots, "\(TargetFlags.insecure.name) trusts every certificate")
      }
      tls.skipsVerification = true
      Output.warn("the server's certificate is not checked: anyone can answer in its place")
    }
    return tls
  }

  /// A channel to the server, which connects when the first call needs it.
  func channel(group: LoopGroup? = nil) throws(Failure) -> Channel {
    do {
      return try Channel(target: address, options: options, group: group)
    } catch {
      // The error of an unreadable file or an invalid target.
      var failure = Failure(ofSetup: error)
      if error.message?.contains("\"\(text)\"") != true { failure.message = "\(text): \(failure.message)" }
      throw failure
    }
  }

  /// Whether a status means that the server does not have the method. In Connect, so does the HTTP status 404.
  func lacksMethod(_ status: GRPCStatus) -> Bool {
    status.isAboutMethod || options.wireProtocol == .connect && status.isHTTPStatus("404")
  }

  /// The failure of a call, with what the user can do about it.
  func failure(_ status: GRPCStatus) -> Failure {
    var failure = Failure(status)
    failure.message = "\(text): \(Failure(status.withoutOptions).message)"
    if options.wireProtocol != .grpc, ["404", "415"].contains(where: { status.isHTTPStatus($0) }) {
      failure.hints.append("Something answers there, but it may not speak \(options.wireProtocol.title).")
    } else if status.code == .unimplemented, !status.isAboutMethod {
      failure.hints.append("Something answers there, but it may not be a gRPC server.")
    }
    // The error of a deadline contains the last one of a connection.
    guard status.code == .unavailable || status.code == .deadlineExceeded, status.origin != .user else {
      return failure
    }
    let message = status.message ?? ""
    if usesTLS, message.contains("does not speak TLS") {
      let isOtherFlag = reasonForTLS != TargetFlags.tls.name
      let place = isOtherFlag ? reasonForTLS.map { ", in place of \($0)" } ?? "" : ""
      failure.hints.append("'--plaintext' connects without TLS\(place).")
    } else if !usesTLS, mayNeedTLS(message) {
      failure.hints.append("'--tls' connects with TLS.")
    } else if message.contains("unable to get local issuer") || message.contains("self-signed")
      || message.contains("self signed")
    {
      failure.hints.append("'--cacert FILE' trusts the authority in FILE.")
    } else if message.contains("hostname mismatch") || message.contains("IP address mismatch") {
      failure.hints.append("'--server-name NAME' expects another name in the certificate.")
    } else if message.contains("certificate required") {
      failure.hints.append("'--cert FILE --key FILE' send a client certificate.")
    }
    return failure
  }

  /// Whether the message is about a server that needs TLS. Over HTTP/1.1, such a server can only close the connection.
  private func mayNeedTLS(_ message: String) -> Bool {
    if message.contains("requires TLS") || message.contains("require TLS") { return true }
    return message.contains("speaks TLS")
      || options.httpVersion == .http1 && message == "the connection was closed"
  }
}

extension CallProtocol {
  /// The display name of the protocol.
  fileprivate var title: String {
    switch self {
    case .grpcWeb: "gRPC-Web"
    case .connect: "Connect"
    case .grpc: "gRPC"
    }
  }
}

extension Failure {
  /// A channel or a server that cannot be made: because of a file that cannot be read, of one that is wrong, or of
  /// arguments.
  init(ofSetup status: GRPCStatus) {
    let message = status.message ?? "\(status)"
    let isAboutName = message.hasPrefix("TLS: cannot verify a certificate for")
    let code: ExitCode =
      message.hasPrefix("TLS: cannot read")
      ? .noInput : message.hasPrefix("TLS: ") && !isAboutName ? .data : .usage
    self.init(ShownText(message), code: code)
  }

  /// A call that failed.
  init(_ status: GRPCStatus) {
    let message = status.message ?? ""
    let name = ShownText(status.code.specName)
    self.init(message.isEmpty ? name : "\(name): \(message)", code: .status(status.code))
  }
}

extension GRPCStatus {
  /// Whether a gRPC server reports an unknown method. A web server's 404 also becomes UNIMPLEMENTED, and is excluded.
  var isAboutMethod: Bool { code == .unimplemented && message?.hasPrefix("the HTTP status is") != true }

  /// The status without what it says of how a program secures its channels, for which the command has flags.
  var withoutOptions: GRPCStatus {
    guard let message else { return self }
    let rest = message.withoutOptions(["ChannelOptions.security is "])
    return GRPCStatus(code: code, message: rest, origin: origin)
  }

  /// Whether the answer was not gRPC but had this HTTP status.
  func isHTTPStatus(_ number: String) -> Bool { message?.hasPrefix("the HTTP status is \(number)") == true }
}
