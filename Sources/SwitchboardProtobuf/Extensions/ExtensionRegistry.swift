/// The extensions that a decoder recognises; the values of others stay in the unknown fields.
///
/// The generator emits one for each file that declares extensions.
public struct ExtensionRegistry: Sendable, ExpressibleByArrayLiteral {
  private struct Key: Hashable {
    let extended: ObjectIdentifier
    let number: Int32
  }

  private var byNumber: [Key: any AnyMessageExtension] = [:]
  private var byName: [String: any AnyMessageExtension] = [:]

  /// A registry without extensions.
  public init() {}

  /// A registry of `extensions`; of two with the same number for one message, the last counts.
  public init(_ extensions: [any AnyMessageExtension]) {
    for field in extensions { insert(field) }
  }

  public init(arrayLiteral elements: any AnyMessageExtension...) { self.init(elements) }

  /// Adds an extension.
  public mutating func insert(_ field: any AnyMessageExtension) {
    byNumber[Key(extended: ObjectIdentifier(field.extendedType), number: field.number)] = field
    byName[field.fullName] = field
  }

  /// Adds all extensions of another registry.
  public mutating func formUnion(_ other: ExtensionRegistry) {
    byNumber.merge(other.byNumber) { $1 }
    byName.merge(other.byName) { $1 }
  }

  /// The extensions of both registries.
  public func union(_ other: ExtensionRegistry) -> ExtensionRegistry {
    var result = self
    result.formUnion(other)
    return result
  }

  /// The extension of `extended` with a number.
  func field(of extended: any ExtensibleMessage.Type, number: Int32) -> (any AnyMessageExtension)? {
    byNumber[Key(extended: ObjectIdentifier(extended), number: number)]
  }

  /// The extension of `extended` with a full name.
  func field(of extended: any ExtensibleMessage.Type, fullName: String) -> (any AnyMessageExtension)? {
    guard let field = byName[fullName], field.extendedType == extended else { return nil }
    return field
  }
}
