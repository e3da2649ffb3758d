/// The names that one field or oneof takes among the members of a message.
struct PropertyNames: Equatable {
  /// The property, in backticks where it needs them.
  let property: String
  /// Where a field with presence is stored.
  let storage: String
  let has: String
  let clear: String

  /// The names for a field or oneof; what `suffix` holds sets it apart from others of the same name.
  init(base: String, suffix: String = "") {
    let lower = CamelCase.lower(base)
    let upper = CamelCase.upper(base)
    property = ReservedWords.fieldName(lower + suffix, base: suffix.isEmpty ? lower : lower + suffix)
    storage = "_" + lower + suffix
    has = ReservedWords.fieldName("has" + upper + suffix, base: lower + suffix)
    clear = ReservedWords.fieldName("clear" + upper + suffix, base: lower + suffix)
  }
}
