import SwitchboardText

/// Names that have another meaning in Swift or in generated code.
enum ReservedWords {
  private static let keywords: Set<String> = words(
    """
    associatedtype class deinit enum extension fileprivate func import init inout internal let open
    operator private protocol public static struct subscript typealias var break case continue default
    defer do else fallthrough for guard if in repeat return switch where while as Any catch false is nil
    precedencegroup rethrows super self Self throw throws true try
    """
  )

  /// Types of the standard library; the last rows are those that only generated code uses.
  private static let commonTypes: Set<String> = words(
    """
    Bool Data Double Float Int Int32 Int64 String UInt UInt32 UInt64 Array Dictionary Equatable Hashable
    Optional Sendable Swift UInt8
    """
  )

  private static let specialVariables: Set<String> = words(
    """
    __COLUMN__ __FILE__ __FUNCTION__ __LINE__
    """
  )

  /// Words that have a meaning before a type or an expression, though they are not keywords.
  private static let contextualWords = words(
    """
    any async await borrow borrowing consume consuming copy discard each isolated nonisolated reasync sending
    some then unsafe yield
    """
  )

  /// The members of every message, and former ones: code in a message that uses such a name refers to the member.
  private static let messageMembers = words(
    """
    _link _storage _table array debugDescription decodeField encode extensionFields fieldNames hash hashValue
    init isInitialized jsonString jsonUTF8Bytes measure merge protoMessageName serialize serializedBytes
    serializedSize textFormatString traverse trim unknownFields with withSerializedBytes
    """
  )

  /// Names that a type cannot have.
  private static let types = keywords.union(commonTypes).union(specialVariables).union(contextualWords)
    .union(messageMembers).union(
      words(
        """
        Switchboard SwitchboardProtobuf _Concurrency InterceptorFactory Extensions Type Protocol _Fields
        description dynamicType
        """
      )
    )

  /// Names that a property cannot have, not even in backticks.
  private static let fields = commonTypes.union(specialVariables).union(
    words(
      """
      isInitialized unknownFields debugDescription description dynamicType hashValue init self Type Protocol
      """
    )
  )

  /// Names that a case cannot have, not even in backticks.
  private static let cases: Set<String> = words(
    """
    Protocol SwitchboardProtobuf Type allCases customMirror debugDescription description dynamicType hashValue
    init rawValue self protoDefault protoEnumName valueNames
    """
  )

  private static let quotableCases = keywords.union(words("associativity dynamicType optional required"))

  /// Variables of generated code; the last row are those that only earlier forms of it had, so that types keep names.
  private static let locals: Set<String> = words(
    """
    newValue
    current decoder fields isSet new number value visitor
    """
  )

  private static func words(_ text: String) -> Set<String> {
    Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
  }

  /// A name for a type; `suffix` (`Message`, `Enum` or `Oneof`) is appended if the name is reserved.
  static func typeName(_ name: String, suffix: String, forbidden: Set<String>) -> String {
    if types.contains(name) || name.isAllUnderscores { return name + suffix }
    if name.hasSuffix(suffix), name.count > suffix.count {
      // `TypeMessage` is reserved too, because a type named `Type` would be renamed to it.
      return typeName(String(name.dropLast(suffix.count)), suffix: suffix, forbidden: forbidden) + suffix
    }
    return forbidden.contains(name) ? name + suffix : name
  }

  /// A name for a property. It is reserved if `base` is; `name` may be `base` with the prefix `has` or `clear`.
  static func fieldName(_ name: String, base: String) -> String {
    if startsWithVerb(base) || fields.contains(base) { return name + "_p" }
    if name == base, keywords.contains(name) { return "`\(name)`" }
    return base.isAllUnderscores ? name + "__" : name
  }

  /// A name for a case of an enum, or for an extension declared in a message.
  static func caseName(_ name: String) -> String {
    if cases.contains(name) { return name + "_" }
    if quotableCases.contains(name) { return "`\(name)`" }
    return name.isAllUnderscores ? name + "__" : name
  }

  /// A name for the declaration of a method; `MethodNames` made sure that it can follow a dot.
  static func methodName(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// The name of a method in an expression, where a word such as `await` has a meaning of its own.
  static func valueName(_ name: String) -> String {
    contextualWords.contains(name) ? "`\(name)`" : methodName(name)
  }

  /// Whether generated code has a local variable with this name.
  static func isLocal(_ name: Substring) -> Bool { locals.contains(String(name)) }

  /// Whether the name clashes with the `hasName` or `clearName` of a possible field `name`.
  private static func startsWithVerb(_ name: String) -> Bool {
    for verb in ["has", "clear"] where name.hasPrefix(verb) {
      return name.utf8.dropFirst(verb.utf8.count).first?.isUpper ?? false
    }
    return false
  }
}

extension String {
  /// The name without backticks, as it is written after a dot.
  var withoutBackticks: String { hasPrefix("`") ? String(dropFirst().dropLast()) : self }
}
