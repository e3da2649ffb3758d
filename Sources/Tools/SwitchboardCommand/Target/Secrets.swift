import Switchboard

extension Arguments {
  /// The value of a flag that should not stand in the list of processes, which every user of the machine can read:
  /// `@FILE` takes it from the first line of a file.
  func secret(_ flag: Flag) throws(Failure) -> String? {
    guard let source = try textOrFile(flag) else { return nil }
    if case .text(let text) = source {
      for hint in source.hints(forSecret: flag) {
        Output.warn("\(flag.name): the name of a file is the secret itself. \(hint)")
      }
      return text
    }
    guard let line = try Self.lines(of: source).first else {
      throw Failure("\(source.place(flag)) has no line for \(flag.name)", code: .data)
    }
    return line
  }

  /// The lines of such a file that are not empty.
  static func lines(of source: TextOrFile) throws(Failure) -> [String] {
    let text = String(decoding: try source.bytes(), as: UTF8.self)
    return text.unicodeScalars.split { $0 == "\n" || $0 == "\r" }.map { String($0) }
  }
}

extension HPACKHeaders {
  /// Words in the names of metadata whose values identify somebody.
  private static let secretWords = [
    "authorization", "cookie", "token", "secret", "password", "credential", "api-key", "apikey",
  ]

  /// The fields as text, without the values of those that are secrets by their names.
  var shown: [(name: String, value: String)] {
    map { name, value in
      (name, Self.secretWords.contains { name.lowercased().contains($0) } ? "(hidden)" : value)
    }
  }
}
