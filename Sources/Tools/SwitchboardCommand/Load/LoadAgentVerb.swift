import Switchboard
import SwitchboardLoad

/// The verb `load-agent`.
enum LoadAgentVerb {
  static let listen = Flag(
    "--listen",
    value: "HOST:PORT",
    help: "Where to listen; the default is 127.0.0.1:0, which lets the system choose the port."
  )
  static let token = Flag(
    "--token",
    value: "TOKEN|@FILE",
    help:
      "The token that callers need, or @FILE for a file with it; by default, the environment variable "
      + "SWITCHBOARD_AGENT_TOKEN, or a random one, which is printed. Other users of this machine can see arguments."
  )
  static let certificate = Flag(
    "--tls-cert",
    value: "FILE",
    completion: .file,
    help: "Serve with TLS: the certificate and its chain, in PEM."
  )
  static let key = Flag("--tls-key", value: "FILE", completion: .file, help: "Its key, in PEM.")

  static let verb = Verb(
    "load-agent",
    summary: "make calls for a 'load' on another machine",
    usage: ["[FLAG]..."],
    details: [
      "From this machine, an agent calls any server that a caller with its token names. Without --tls-cert, the token goes "
        + "over the network unencrypted: listen on loopback, or in a network that you trust."
    ],
    flags: [FlagGroup("Agent", [listen, token, certificate, key])],
    examples: [
      Example("load-agent --listen 0.0.0.0:7000 --token @token.txt", "On each machine that makes calls.")
    ],
    run
  )

  /// The shortest token of an agent that other machines can reach.
  static let shortestToken = 16

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let listener = try ListeningAddress.parse(arguments[listen] ?? "127.0.0.1:0", listen)
    let given = try arguments.secret(token) ?? Terminal.environment(LoadAgentList.variable)
    if given?.isEmpty == true { throw Failure.usage("the token is empty") }
    if let given, given.utf8.count < shortestToken, !HostNames.isLocal(listener.host) {
      throw Failure.usage(
        "a token with which other machines have this one call any server has at least \(shortestToken) characters"
      )
    }
    var numbers = SystemRandomNumberGenerator()
    let secret = given ?? String(numbers.next(), radix: 36) + String(numbers.next(), radix: 36)
    let agent = LoadAgent(token: secret) { plan in
      Output.note(
        "calling \(plan.target): \(plan.method.service)/\(plan.method.name)"
      )
    }
    var options = ServerOptions()
    options.tls = try tls(arguments)
    // Whoever has the token chose the server that is called, and must learn why it cannot be.
    options.sendsErrorDescriptions = true
    options.logger = FlagLog.ofServer(certificate: certificate)
    let server: Server
    do {
      server = try Server(providers: [agent], options: options)
    } catch {
      throw Failure(ofSetup: error)
    }
    let address = try ListeningAddress.bind(server, listener, listen)
    try await Interrupts.first {
      try Output.write("listening on \(address)" + (given == nil ? ", token \(secret)" : ""))
    }
    await server.shutDown(grace: .seconds(2))
    return .success
  }

  private static func tls(_ arguments: Arguments) throws -> ServerTLS? {
    switch (arguments[certificate], arguments[key]) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      return ServerTLS(
        credentials: TLSCredentials(certificateChain: .file(certificate), privateKey: .file(key))
      )
    default: throw Failure.usage("--tls-cert and --tls-key go together")
    }
  }
}
