/// The rarely needed parts of a table: names, and the types of the fields.
final class TableDetails: Sendable {
  let fullName: String
  let isMessageSet: Bool
  /// The generated type; nil if the message was described at run time.
  let type: (any Message.Type)?
  let oneofs: [String]
  /// The fields of a message that was described at run time.
  let fields: [TableField]
  private let source: Source
  private let lazyNames = LazyReference<FieldNames>()
  private let mayHaveForm: Bool
  private let lazyForm = LazyReference<Form>()

  /// The source of the fields.
  private enum Source: Sendable {
    /// Generated code, whose text is read again when the names are needed.
    case text(StaticString, links: @Sendable () -> [any DeclaredType.Type])
    case schema([TableSchema.Field], reserved: [String])
  }

  /// The details of a generated message.
  init(
    fullName: String,
    type: any Message.Type,
    isMessageSet: Bool,
    text: StaticString,
    links: @escaping @Sendable () -> [any DeclaredType.Type]
  ) {
    self.fullName = fullName
    mayHaveForm = WellKnownForm.mayBe(of: fullName)
    self.type = type
    self.isMessageSet = isMessageSet
    oneofs = []
    fields = []
    source = .text(text, links: links)
  }

  /// The details of a message that was described at run time.
  init(_ schema: TableSchema, fields: [TableSchema.Field]) {
    fullName = schema.fullName
    mayHaveForm = WellKnownForm.mayBe(of: fullName)
    type = nil
    isMessageSet = schema.isMessageSet
    oneofs = schema.oneofs
    self.fields = fields.map(TableField.init)
    source = .schema(fields, reserved: schema.reservedNames)
  }

  /// The names of the fields.
  var names: FieldNames {
    lazyNames.object(makeNames)
  }

  private func makeNames() -> FieldNames {
    switch source {
    case .text(let text, _): FieldNames(text)
    case .schema(let fields, let reserved): FieldNames(fields, reserved: reserved)
    }
  }

  /// The form of the message in JSON, if that is not an object with the fields.
  var form: WellKnownForm? {
    guard mayHaveForm else { return nil }
    return lazyForm.object { Form(WellKnownForm(messageName: fullName)) }.value
  }

  private final class Form: Sendable {
    let value: WellKnownForm?
    init(_ value: WellKnownForm?) { self.value = value }
  }

  /// Resolves the messages and enums of the fields.
  func links() -> [TableLink] {
    switch source {
    case .text(_, let links): links().map { $0._link.link }
    case .schema: []
    }
  }
}
