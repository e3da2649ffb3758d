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

  /// The file and the error: `shop.proto: shop.Order is declared twice`.
  public var description: String { "\(file): \(text)" }
}
