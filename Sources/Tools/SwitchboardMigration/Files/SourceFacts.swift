/// What is true of a whole source file.
struct SourceFacts: Sendable {
  let imports: [ImportStatement]
  /// Whether the file uses what only NIO has.
  let usesNIO: Bool
  /// Whether it uses what NIOConcurrencyHelpers has.
  let usesLocks: Bool
  /// Whether it uses what NIO and Switchboard have.
  let usesShared: Bool
  /// For each token, whether it is in a type's body, and not in code.
  let areInTypes: [Bool]
  /// What each constant or variable is given; `nil` for one that is given several things, or what no rule asks for.
  private let origins: [[UInt8]: Origin?]

  init(_ source: SwiftSource) {
    imports = ImportStatement.all(in: source)
    let inImports = Set(imports.flatMap { Array($0.tokens) })
    let prefix = Array("NIO".utf8)
    var (usesNIO, usesLocks, usesShared) = (false, false, false)
    var origins: [[UInt8]: Origin?] = [:]
    var scopes = Scopes()
    areInTypes = source.tokens.indices.map { index in
      scopes.pass(index, in: source)
      return scopes.isInType
    }
    for index in source.tokens.indices where source.tokens[index].kind == .word && !inImports.contains(index)
    {
      let word = source[index]
      if word.starts(with: prefix), !Modules.withoutSuccessor.contains(Array(word)) { usesNIO = true }
      if word.first.map({ $0 < 0x60 }) == true {
        if Modules.namesOfNIO.contains(Array(word)) { usesNIO = true }
        if Modules.locks.contains(Array(word)) { usesLocks = true }
        if Modules.shared.contains(Array(word)) { usesShared = true }
      }
      if source.isToken("let", at: index) || source.isToken("var", at: index), source.isWord(index + 1) {
        let name = Array(source[index + 1])
        let origin = Self.origin(after: index, in: source)
        origins.updateValue(origins[name, default: origin] == origin ? origin : nil, forKey: name)
      }
    }
    (self.usesNIO, self.usesLocks, self.usesShared) = (usesNIO, usesLocks, usesShared)
    self.origins = origins
  }

  private static func origin(after index: Int, in source: SwiftSource) -> Origin? {
    guard source.isToken("=", at: index + 2) else { return nil }
    var at = index + 3
    while isEffect(at, in: source) { at += 1 }
    return Origin(of: at, in: source)
  }

  private static func isEffect(_ index: Int, in source: SwiftSource) -> Bool {
    ["try", "await", "!", "?"].contains { source.isToken($0, at: index) }
  }

  func imports(_ modules: Set<[UInt8]>) -> Bool { imports.contains { modules.contains($0.name) } }

  func imports(_ module: String) -> Bool { imports.contains { $0.name.elementsEqual(module.utf8) } }

  func isDeclared(_ name: [UInt8], as origin: Origin) -> Bool { (origins[name] ?? nil) == origin }

  /// Whether imports of NIO stay.
  var keepsNIO: Bool { usesNIO && imports(Modules.nio.subtracting([Modules.helpers])) }
}
