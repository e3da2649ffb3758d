/// What is legal in an option, and hardly meant: it has no effect, or peers will not accept it.
package struct OptionRemark: Sendable, Hashable {
  /// The option's name; empty if it is about several.
  package let option: String
  /// What is wrong, as a sentence that may follow the option's name and a colon.
  package let reason: String
  /// The same as a sentence of its own.
  package let sentence: String

  /// An option `has no effect`, or another predicate.
  package init(_ option: String, _ predicate: String) {
    self.init(option, predicate, sentence: "\(option) \(predicate)")
  }

  /// A reason that does not begin with the option's name. `sentence` says all of it if the reason does not.
  package init(of option: String, _ reason: String, sentence: String? = nil) {
    self.init(option, reason, sentence: sentence ?? reason)
  }

  private init(_ option: String, _ reason: String, sentence: String) {
    self.option = option
    self.reason = reason
    self.sentence = sentence
  }
}

/// A log of a program whose users do not know options by their names: the command has flags.
package protocol OptionRemarkHandler: LogHandler {
  /// Receives a remark. Returns whether it is about an option that the program says something of; all others are logged.
  func takes(_ remark: OptionRemark) -> Bool
}

extension Logger {
  /// Logs a warning about an option of a type.
  package func log(
    _ remark: OptionRemark,
    of type: String,
    _ metadata: @autoclosure () -> [String: String] = [:]
  ) {
    guard logs(.warning), (handler as? any OptionRemarkHandler)?.takes(remark) != true else { return }
    log(.warning, "\(type): \(remark.sentence)", metadata())
  }
}
