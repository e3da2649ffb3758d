/// Reformats JSON, with each member on its own line or all on one line, and adds colours.
///
/// It changes only white space, so numbers and strings stay as they were written. The input is JSON that this process
/// has written; for any other input the output is unspecified but harmless.
struct JSONPainter {
  private let paint: Painter
  private let isPretty: Bool

  init(_ paint: Painter, isPretty: Bool) {
    self.paint = paint
    self.isPretty = isPretty
  }

  func text(of json: [UInt8]) -> String {
    var output = ""
    var depth = 0
    var index = 0
    func newline() -> String { isPretty ? "\n" + String(repeating: "  ", count: max(depth, 0)) : "" }
    while index < json.count {
      let byte = json[index]
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        output.unicodeScalars.append(Unicode.Scalar(byte))
        let next = Self.skipSpace(json, index + 1)
        if next < json.count, json[next] == byte + 2 {
          output.unicodeScalars.append(Unicode.Scalar(byte + 2))
          index = next + 1
          continue
        }
        depth += 1
        output += newline()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        output += newline()
        output.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ","): output += "," + newline()
      case UInt8(ascii: ":"): output += isPretty ? ": " : ":"
      case 0x20, 0x09, 0x0A, 0x0D: break
      case UInt8(ascii: "\""):
        let end = Self.endOfString(json, index)
        let text = String(decoding: json[index..<end], as: UTF8.self)
        let next = Self.skipSpace(json, end)
        let isName = next < json.count && json[next] == UInt8(ascii: ":")
        output += paint(isName ? .name : .string, text.harmless)
        index = end
        continue
      default:
        let end = json[index...].firstIndex { Self.ends.contains($0) } ?? json.count
        output += paint(.number, String(decoding: json[index..<end], as: UTF8.self).harmless)
        index = end
        continue
      }
      index += 1
    }
    return output
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
