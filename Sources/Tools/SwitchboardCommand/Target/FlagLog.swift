import Switchboard
import SwitchboardText

/// The log of a channel or a server that the command makes. What the library says of an option, the command says of the flag
/// that sets it, as a warning, once: a run may make several channels.
final class FlagLog: LogHandler {
  private let words: [(library: String, command: ShownText)]
  private let rest: Logger
  private let said = Locked<Set<ExactText>>([])

  /// `words` are how an entry of the library may begin, and how the command begins it. All others go to `rest`.
  private init(_ words: [(library: String, command: ShownText)], rest: Logger) {
    self.words = words
    self.rest = rest
  }

  /// The log of channels that show a certificate.
  static func ofChannels() -> Logger {
    let flag = TargetFlags.certificate
    let words: (library: String, command: ShownText) =
      ("ChannelOptions: the certificate", "\(flag.name): the certificate")
    return Logger(FlagLog([words], rest: .quiet), minimumLevel: .warning)
  }

  /// The log of a server, with the flags for its certificate and its origins.
  static func ofServer(certificate: Flag? = nil, origin: Flag? = nil) -> Logger {
    var words: [(library: String, command: ShownText)] = []
    if let certificate {
      words.append(("ServerOptions: the certificate", "\(certificate.name): the certificate"))
    }
    if let origin { words.append(("WebOptions.origins has \"null\"", "\(origin.name) null")) }
    return Logger(FlagLog(words, rest: .standardError), minimumLevel: .warning)
  }

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    guard let (library, command) = words.first(where: { message.begins(with: $0.library) }) else {
      return rest.log(level, message, metadata)
    }
    guard said.withLock({ $0.insert(message) }) else { return }
    Output.warn("\(command)\(message.dropFirst(library.count))")
  }
}
