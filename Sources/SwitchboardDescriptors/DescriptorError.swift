/// Why descriptors cannot be used: they contradict each other or themselves.
public struct DescriptorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the `.proto` file at fault.
  public let file: String

  /// What is wrong.
  public let text: String

  init(file: String, _ text: String) {
    self.file = file
    self.text = text
  }

  /// The file and what is wrong with it: `shop.proto: shop.Order is declared twice`.
  public var description: String { "\(file): \(text)" }
}
