import SwitchboardToolSupport

/// The output of the command. Only results go to standard output; everything else goes to standard error.
enum Output {
  /// Writes a text to standard output in one write, by default as a line of its own.
  static func write(_ text: ShownText, end: ShownText = "\n") throws(SystemError) {
    try Descriptor.standardOutput.writeAll(Array((text + end).text.utf8))
  }

  /// Prints a note that is not part of the output, by default on a line of its own.
  static func note(_ text: ShownText, end: ShownText = "\n") {
    // If this fails, there is no other way to report it.
    try? Descriptor.standardError.writeAll(Array((text + end).text.utf8))
  }

  /// Warns the user.
  static func warn(_ text: ShownText) {
    let paint = Painter(Terminal.current(.errors))
    note("switchboard: \(paint(.warning, "warning:")) \(text)")
  }

  /// Tells the user why the command fails.
  static func complain(_ failure: Failure) {
    let paint = Painter(Terminal.current(.errors))
    note("\(paint(.bad, "switchboard:")) \(failure.message)")
    for hint in failure.hints { note(hint) }
  }
}
