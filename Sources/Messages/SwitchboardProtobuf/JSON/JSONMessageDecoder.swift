import SwitchboardText

/// Reads messages from JSON: finds the field for each name and rejects duplicates.
///
/// `JSONMessageDecoder+Fields.swift` reads the values.
struct JSONMessageDecoder {
  var reader: JSONReader
  let extensions: ExtensionRegistry?
  let types: TypeRegistry
  var objects: ObjectBudget
  /// The types of later `Any`s that were already looked up.
  var typesAhead = JSONTypesAhead()

  init(_ bytes: [UInt8], extensions: ExtensionRegistry?, options: JSONDecodingOptions) throws(DecodeError) {
    // Neither the outermost object nor an array of messages counts as nesting. The cap leaves room for both.
    let reader = try JSONReader(
      bytes,
      nesting: min(max(options.messageDepthLimit, 0), .max - 2) + 1,
      ignoresUnknown: options.ignoreUnknownFields
    )
    self.init(reader, extensions, options.typeRegistry)
  }

  /// Throws nothing: otherwise, the whole decoder would be copied.
  private init(_ reader: JSONReader, _ extensions: ExtensionRegistry?, _ types: TypeRegistry) {
    self.reader = reader
    self.extensions = extensions
    self.types = types
    objects = ObjectBudget(input: reader.bytes.count)
  }

  /// Reads an object whose members are the fields of a message, except for a member named `ignored`.
  mutating func object(
    into message: inout MessageStorage,
    ignoring ignored: String? = nil
  ) throws(DecodeError) {
    let table = message.table
    let names = table.names
    var hint = 0
    var seen = FieldSet()
    var hasIgnored = false
    var isFirst = true
    try reader.enter(UInt8(ascii: "{"))
    while try reader.hasNext(UInt8(ascii: "}"), isFirst: &isFirst) {
      let start = reader.position
      let token = try reader.stringToken()
      try reader.expect(UInt8(ascii: ":"))
      guard let number = try field(token, of: table, names: names.json, hint: &hint) else {
        if try skipMember(token, of: table, ignoring: ignored) {
          if hasIgnored { throw reader.fail("duplicate member", at: start) }
          hasIgnored = true
        }
        continue
      }
      if !seen.insert(number) {
        throw reader.fail("duplicate field", at: start).inField(names.name(of: number))
      }
      do throws(DecodeError) {
        try message.decodeField(number, from: &self)
      } catch {
        throw error.inField(names.name(of: number))
      }
    }
  }

  /// The number of the field that a name refers to: its JSON name, its original name or, in brackets, the name of an
  /// extension.
  private func field(
    _ token: JSONReader.StringToken,
    of table: TableData,
    names: JSONNames,
    hint: inout Int
  ) throws(DecodeError) -> Int32? {
    if !token.hasEscapes, let number = names.number(of: token.range, in: reader.bytes, hint: &hint) {
      return number
    }
    let name = try reader.text(of: token)
    if let number = names.number(of: name) { return number }
    guard name.begins(with: "["), name.ends(with: "]"), let extensions, table.isExtensible else { return nil }
    return extensions.field(of: table, fullName: String(Substring(name.utf8.dropFirst().dropLast())))?.number
  }

  /// Skips a member that is not a field, if the options allow that. Returns whether it is the one named `ignored`.
  private mutating func skipMember(
    _ token: JSONReader.StringToken,
    of table: TableData,
    ignoring ignored: String?
  ) throws(DecodeError) -> Bool {
    let name = try reader.text(of: token)
    let isIgnored = ignored.map(name.isExactly) ?? false
    guard reader.ignoresUnknown || isIgnored else {
      throw reader.fail(
        "\(table.fullName) has no field \"\(name)\"",
        at: token.range.lowerBound - 1
      )
    }
    try reader.skipValue()
    return isIgnored
  }
}

/// The fields of a message that were read; almost all have small numbers.
private struct FieldSet {
  private var small: UInt64 = 0
  private var large: Set<Int32> = []

  /// Inserts a field; false if it was present already.
  mutating func insert(_ number: Int32) -> Bool {
    guard 0..<64 ~= number else { return large.insert(number).inserted }
    let bit = UInt64(1) << UInt64(number)
    defer { small |= bit }
    return small & bit == 0
  }
}
