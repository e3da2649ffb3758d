/// The braces around a token: of types, and of code.
struct Scopes {
  private var areCode: [Bool] = []
  private var isTypeNext = false
  private var areProperties: [Bool] = []
  private var isPropertyNext = false
  private static let types = Set(
    ["class", "struct", "enum", "protocol", "actor", "extension"].map { Array($0.utf8) }
  )
  private static let members = Set(["func", "init", "var", "let", "subscript"].map { Array($0.utf8) })

  /// Whether the token is in the code of a function, an accessor or a closure.
  var isInCode: Bool { areCode.last ?? false }

  /// Whether it is in a type's body, and not in the code of its members.
  var isInType: Bool { areCode.last == false }

  /// Whether it is in braces that begin on the line of a `var`: those of an accessor, or of a closure.
  var isInProperty: Bool { areProperties.last ?? false }

  /// Goes to the next token.
  mutating func pass(_ index: Int, in source: SwiftSource) {
    if source.tokens[index].beginsLine { isPropertyNext = false }
    if source.isToken("{", at: index) {
      areCode.append(isInCode || !isTypeNext)
      areProperties.append(isInProperty || isPropertyNext)
      (isTypeNext, isPropertyNext) = (false, false)
    } else if source.isToken("}", at: index) {
      _ = (areCode.popLast(), areProperties.popLast())
    } else if source.isWord(index) {
      let word = Array(source[index])
      if Self.types.contains(word) { isTypeNext = true }
      if Self.members.contains(word) { isTypeNext = false }
      if source.isToken("var", at: index) { isPropertyNext = true }
    }
  }
}
