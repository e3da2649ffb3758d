import Switchboard

extension HPACKHeaders {
  /// Parses headers from arguments: `name: value`, or `@FILE` for a file with one on each line. If the name ends in
  /// `-bin`, the value is in base64.
  ///
  /// Errors do not repeat a value, which may be a secret.
  init(arguments: [String]) throws(Failure) {
    self.init()
    let flag = TargetFlags.header
    for argument in arguments {
      let source = try TextOrFile(argument, of: flag)
      guard case .text(let text) = source else {
        let lines = try Arguments.lines(of: source)
        guard !lines.isEmpty else {
          throw Failure("\(source.place(flag)) has no line for \(flag.name)", code: .data)
        }
        for line in lines {
          do { try add(line, in: "a line of \(source.place(flag))") } catch {
            throw Failure(error.message, hints: error.hints, code: .data)
          }
        }
        continue
      }
      do { try add(text, in: flag.name) } catch {
        throw Failure(error.message, hints: error.hints + source.hints(forSecret: flag), code: error.code)
      }
    }
  }

  private mutating func add(_ text: String, in place: String) throws(Failure) {
    if let name = Self.pseudoNames.first(where: { text.hasPrefix($0 + ":") }) {
      throw Self.protocolSends(name, not: place)
    }
    guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
      throw .usage("\(place) needs NAME:VALUE; it has no name and colon")
    }
    let name = text[..<colon].lowercased()
    // HTTP takes blanks around a value for none of it.
    let value = String(text[text.index(after: colon)...].trimmingBlanks)
    guard name.utf8.allSatisfy(Self.isNameByte) else {
      // All of it may be a secret that happens to have a colon.
      throw .usage(
        "\(place) has no metadata name before its colon: letters, digits, '-', '_' and '.' are allowed"
      )
    }
    guard !FieldSyntax.isReserved(name) else {
      throw Self.protocolSends(name, not: place)
    }
    // An empty token is hardly meant: it is rather a variable of the shell that is not set.
    guard name != "authorization" || !value.isEmpty else {
      throw .usage("\(place) has 'authorization' without a value: is a variable in it not set?")
    }
    if name.hasSuffix("-bin") {
      guard let bytes = Base64Argument.decode(value) else {
        throw .usage("the value of '\(name)' is binary and must be in base64, which it is not")
      }
      add(name: name, binary: bytes)
    } else {
      guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        throw .usage(
          "the value of '\(name)' has characters that only metadata whose name ends in -bin can have"
        )
      }
      add(name: name, value: value)
    }
  }

  private static func protocolSends(_ name: String, not place: String) -> Failure {
    Failure(
      "\(place) sets '\(name)', which the protocol itself sends",
      hints: flags[name].map { ["Use \($0) instead."] } ?? [],
      code: .usage
    )
  }

  /// What HTTP/2 sends in place of a request's first line.
  private static let pseudoNames = [":authority", ":method", ":path", ":scheme"]

  /// The flags for what the protocol sends.
  private static let flags = [
    ":authority": "--authority", "grpc-encoding": "--compress", "grpc-timeout": "--deadline",
    "host": "--authority",
    "user-agent": "--user-agent",
  ]

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let bytes = utf8.drop(while: isBlank)
    return Substring(bytes.prefix(bytes.count - bytes.reversed().prefix(while: isBlank).count))
  }
}

/// Base64 from an argument: in either alphabet, with or without padding.
enum Base64Argument {
  static func decode(_ text: String) -> [UInt8]? {
    var digits = Array(text.utf8)
    while digits.last == UInt8(ascii: "="), digits.count % 4 == 0 || digits.count % 4 == 3 {
      digits.removeLast()
    }
    guard digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> UInt32(count)) & 63])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count)) & 63]) }
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) - 48 + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
