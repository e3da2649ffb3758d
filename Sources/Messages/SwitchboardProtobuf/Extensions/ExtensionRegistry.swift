import SwitchboardText

/// The extensions that a decoder recognizes; values of other extensions stay in the unknown fields.
///
/// The generator emits one for each file that declares extensions.
public struct ExtensionRegistry: Sendable, ExpressibleByArrayLiteral {
  private struct Key: Hashable {
    let extended: ObjectIdentifier
    let number: Int32
  }

  private var byNumber: [Key: any AnyMessageExtension] = [:]
  private var byName: [ExactText: any AnyMessageExtension] = [:]

  /// A registry without extensions.
  public init() {}

  /// A registry of `extensions`. If two have the same number and extend the same message, the last wins.
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

  /// The extension of `extended` with this number.
  func field(of extended: any ExtensibleMessage.Type, number: Int32) -> (any AnyMessageExtension)? {
    byNumber[Key(extended: ObjectIdentifier(extended), number: number)]
  }

  /// The extension of `extended` with this full name.
  func field(of extended: any ExtensibleMessage.Type, fullName: String) -> (any AnyMessageExtension)? {
    guard let field = byName[fullName], field.extendedType == extended else { return nil }
    return field
  }

  /// The extension of `extended` that is declared directly in the message `name`. The text format of a MessageSet names
  /// an extension after its message, which usually declares it.
  func field(of table: TableData, declaredIn name: String) -> (any AnyMessageExtension)? {
    guard let extended = table.details.type as? any ExtensibleMessage.Type else { return nil }
    let prefix = name + "."
    return byName.values.first { field in
      field.extendedType == extended && table.held(field) != nil && field.fullName.begins(with: prefix)
        && !field.fullName.utf8.dropFirst(prefix.utf8.count).contains(UInt8(ascii: "."))
    }
  }
}
