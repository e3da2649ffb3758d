import SwitchboardToolSupport

/// The output of the command. Only results go to standard output; everything else goes to standard error.
enum Output {
  /// Writes a text and a line feed to standard output in one write.
  static func write(_ text: String) throws(SystemError) {
    try Descriptor.standardOutput.writeAll(Array(text.utf8) + [UInt8(ascii: "\n")])
  }

  /// Writes bytes to standard output as they are.
  static func write(bytes: [UInt8]) throws(SystemError) { try Descriptor.standardOutput.writeAll(bytes) }

  /// Prints a note that is not part of the output.
  static func note(_ text: String) { complain(text) }

  /// Warns the user.
  static func warn(_ text: String) {
    let paint = Painter(Terminal.current(.errors))
    complain("switchboard: \(paint(.warning, "warning:")) \(text.harmless)")
  }

  /// Tells the user why the command fails.
  static func complain(_ failure: Failure) {
    let paint = Painter(Terminal.current(.errors))
    complain("\(paint(.bad, "switchboard:")) \(failure.message.harmless)")
    for hint in failure.hints { complain(hint.harmless) }
  }

  private static func complain(_ line: String) { SwitchboardToolSupport.complain(line) }
}
