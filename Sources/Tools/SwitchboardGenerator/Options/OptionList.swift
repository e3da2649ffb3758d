/// Options in the parameter of a request, separated by commas. A comma of an option itself is written `\,`, and a
/// backslash `\\`; before anything else, a backslash is one.
package enum OptionList {
  /// The options in a parameter, without the escapes and the spaces around them. Empty ones are left out.
  package static func options(in parameter: String) -> [String] {
    var options: [String] = []
    var option: [UInt8] = []
    func end() {
      let text = String(decoding: option, as: UTF8.self).trimmingSpaces()
      if !text.isEmpty { options.append(text) }
      option = []
    }
    var rest = parameter.utf8[...]
    while let byte = rest.popFirst() {
      if byte == comma {
        end()
      } else if byte == backslash, let next = rest.first, next == comma || next == backslash {
        option.append(next)
        rest.removeFirst()
      } else {
        option.append(byte)
      }
    }
    end()
    return options
  }

  /// The parameter with these options.
  package static func parameter(_ options: [String]) -> String {
    options.map { option in
      let bytes = option.utf8.flatMap { $0 == comma || $0 == backslash ? [backslash, $0] : [$0] }
      return String(decoding: bytes, as: UTF8.self)
    }
    .joined(separator: ",")
  }

  private static let comma = UInt8(ascii: ",")
  private static let backslash = UInt8(ascii: "\\")
}
