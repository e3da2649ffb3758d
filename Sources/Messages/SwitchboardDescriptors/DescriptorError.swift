/// The error for descriptors that contradict each other or themselves.
public struct DescriptorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the `.proto` file at fault.
  public let file: String

  /// The description of the error, without the file.
  public let text: String

  init(file: String, _ text: String) {
    self.file = file
    self.text = text
  }

  /// A text of the descriptors, as far as it can be shown: not all of a long one, and only ASCII that is printed as it is.
  static func shown(_ text: String) -> String {
    let most = 100
    let start = text.utf8.prefix(most).map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }
    return String(decoding: start, as: UTF8.self) + (text.utf8.count > most ? "..." : "")
  }

  /// The file and the error: `shop.proto: shop.Order is declared twice`.
  public var description: String { "\(file): \(text)" }
}
