/// The names of the members for one field or oneof of a message.
struct PropertyNames: Equatable {
  /// The property, in backticks if necessary.
  let property: String
  let has: String
  let clear: String

  /// The case of a oneof's enum, as it is written after a dot.
  var caseName: String { property.withoutBackticks }

  /// The names for a field or oneof; `suffix` distinguishes it from others with the same name.
  init(base: String, suffix: String = "") {
    let lower = CamelCase.lower(base)
    let upper = CamelCase.upper(base)
    property = ReservedWords.fieldName(lower + suffix, base: suffix.isEmpty ? lower : lower + suffix)
    has = ReservedWords.fieldName("has" + upper + suffix, base: lower + suffix)
    clear = ReservedWords.fieldName("clear" + upper + suffix, base: lower + suffix)
  }
}
