/// Formats JSON again, with each member on its own line or all on one line, and adds colors.
///
/// It changes only white space, and escapes characters that control a terminal, so that numbers and strings keep their
/// value. The input is JSON that this process has written; for any other input the output is unspecified but harmless.
struct JSONPainter {
  private let paint: Painter
  private let isPretty: Bool

  init(_ paint: Painter, isPretty: Bool) {
    self.paint = paint
    self.isPretty = isPretty
  }

  func text(of json: [UInt8]) -> ShownText { lines(of: json).joined(separator: "\n") }

  /// The lines; without ``isPretty`` it is one.
  func lines(of json: [UInt8]) -> [ShownText] {
    var lines: [ShownText] = []
    var output = ShownText()
    var depth = 0
    var index = 0
    func endLine() {
      guard isPretty else { return }
      lines.append(output)
      output = ShownText(String(repeating: "  ", count: max(depth, 0)))
    }
    while index < json.count {
      let byte = json[index]
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        output += Self.bracket(byte)
        let next = Self.skipSpace(json, index + 1)
        if next < json.count, json[next] == byte + 2 {
          output += Self.bracket(byte + 2)
          index = next + 1
          continue
        }
        depth += 1
        endLine()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        endLine()
        output += Self.bracket(byte)
      case UInt8(ascii: ","):
        output += ","
        endLine()
      case UInt8(ascii: ":"): output += isPretty ? ": " : ":"
      case 0x20, 0x09, 0x0A, 0x0D: break
      case UInt8(ascii: "\""):
        let end = Self.endOfString(json, index)
        let text = String(decoding: json[index..<end], as: UTF8.self)
        let next = Self.skipSpace(json, end)
        let isName = next < json.count && json[next] == UInt8(ascii: ":")
        output += paint(isName ? .name : .string, ShownText(text, as: .json))
        index = end
        continue
      default:
        let end = json[index...].firstIndex { Self.ends.contains($0) } ?? json.count
        output += paint(.number, String(decoding: json[index..<end], as: UTF8.self))
        index = end
        continue
      }
      index += 1
    }
    return lines + [output]
  }

  private static func bracket(_ byte: UInt8) -> ShownText {
    switch byte {
    case UInt8(ascii: "{"): "{"
    case UInt8(ascii: "["): "["
    case UInt8(ascii: "}"): "}"
    default: "]"
    }
  }

  private static let ends = Set("{}[],:\" \t\n\r".utf8)

  private static func skipSpace(_ json: [UInt8], _ start: Int) -> Int {
    var index = start
    while index < json.count, [0x20, 0x09, 0x0A, 0x0D].contains(json[index]) { index += 1 }
    return index
  }

  private static func endOfString(_ json: [UInt8], _ start: Int) -> Int {
    var index = start + 1
    while index < json.count {
      if json[index] == UInt8(ascii: "\\") {
        index += 2
        continue
      }
      index += 1
      if json[index - 1] == UInt8(ascii: "\"") { break }
    }
    return min(index, json.count)
  }
}
