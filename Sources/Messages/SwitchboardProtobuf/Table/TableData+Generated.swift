// trap: generated code that does not fit this runtime would read memory that is not its own

extension TableData {
  /// The table of a generated message, from the compact form that the generator emits.
  ///
  /// The accessors of the message have the offsets of its fields. `layout1` is the name of the rule by which both the
  /// generator and this initializer compute these, so that code with other offsets does not compile.
  ///
  /// - Parameters:
  ///   - type: the generated type.
  ///   - fullName: the full name of the message in its `.proto` file.
  ///   - text: the fields, as `docs/internals/GeneratorInternals.md` describes.
  ///   - links: the types that the fields hold, for the indices in the text.
  public init(
    layout1 type: any Message.Type,
    _ fullName: StaticString,
    _ text: StaticString,
    _ links: @escaping @Sendable () -> [any DeclaredType.Type] = { [] }
  ) {
    let parsed = TableText(text)
    // Neither can fail in a program that the compiler of this package has built from code of its generator. If one did,
    // accessors would read memory that is not theirs.
    guard MessageObject.hasExpectedLayout, let layout = try? TableLayout(parsed.schema) else {
      preconditionFailure(
        "\(fullName) has no table: the compiler or the generated code does not fit this runtime"
      )
    }
    let details = TableDetails(
      fullName: fullName.description,
      type: type,
      isMessageSet: parsed.schema.isMessageSet,
      text: text,
      links: links
    )
    self.init(layout, details: details, needsInitialization: parsed.needsInitialization, set: nil)
  }
}

/// A message or an enum: a type that a `.proto` file declares.
public protocol DeclaredType: Sendable {
  /// How the tables of messages refer to the type.
  static var _link: TypeLink { get }
}

/// A reference from the table of a message to the type of a field.
public struct TypeLink: Sendable {
  let link: TableLink
}

extension Message {
  /// How the tables of messages refer to the type.
  public static var _link: TypeLink { TypeLink(link: TableLink(message: _table)) }
}

extension Enum {
  /// How the tables of messages refer to the type.
  public static var _link: TypeLink { TypeLink(link: TableLink(enumeration: EnumTable(Self.self))) }
}
