import Switchboard
import SwitchboardText

/// The log of a channel or a server that the command makes. What the library remarks on an option, the command says of the
/// flag that sets it, as a warning, once: a run may make several channels. What it says in brackets of a program's options is left
/// out.
final class FlagLog: OptionRemarkHandler {
  /// The flags, and what of their values the remarks are about, by the options' names.
  private let flags: [String: String]
  private let rest: Logger
  private let said = Locked<Set<ExactText>>([])

  /// All other entries go to `rest`.
  private init(_ flags: [String: String], rest: Logger) {
    self.flags = flags
    self.rest = rest
  }

  /// The log of channels that show a certificate.
  static func ofChannels() -> Logger {
    let flags = ["security": TargetFlags.certificate.name]
    return Logger(FlagLog(flags, rest: .quiet), minimumLevel: .warning)
  }

  /// The log of a server, with the flags for its certificate and its origins.
  static func ofServer(certificate: Flag? = nil, origin: Flag? = nil) -> Logger {
    var flags: [String: String] = [:]
    if let certificate { flags["tls"] = certificate.name }
    if let origin { flags["origins"] = "\(origin.name) null" }
    return Logger(FlagLog(flags, rest: .standardError), minimumLevel: .warning)
  }

  func takes(_ remark: OptionRemark) -> Bool {
    guard let flag = flags[remark.option] else { return false }
    let text = "\(flag): \(remark.reason)"
    if said.withLock({ $0.insert(text) }) { Output.warn(ShownText(text)) }
    return true
  }

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    rest.log(level, message.withoutOptions(), metadata.mapValues { $0.withoutOptions() })
  }
}

extension String {
  /// The text without its remarks in brackets on options of programs, for which the command has flags, or nothing.
  func withoutOptions(_ names: [String] = ["ServerOptions.", "ChannelOptions."]) -> String {
    var kept = ""
    // What has been read of a remark, which may have brackets of its own.
    var remark = ""
    var depth = 0
    for character in self {
      if character == "(" { depth += 1 }
      if depth > 0 { remark.append(character) } else { kept.append(character) }
      guard character == ")", depth > 0 else { continue }
      depth -= 1
      guard depth == 0 else { continue }
      if !names.contains(where: { remark.contains($0) }) {
        kept += remark
      } else if kept.last == " " {
        kept.removeLast()
      }
      remark = ""
    }
    return kept + remark
  }
}
