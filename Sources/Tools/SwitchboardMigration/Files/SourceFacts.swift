/// What is true of a whole source file.
struct SourceFacts: Sendable {
  let imports: [ImportStatement]
  /// Whether the file uses what only NIO has.
  let usesNIO: Bool
  /// Whether it uses what NIOConcurrencyHelpers has.
  let usesLocks: Bool
  /// Whether it uses what NIO and Switchboard have.
  let usesShared: Bool
  /// The first name of the expression that each constant or variable is given.
  private let origins: [[UInt8]: [UInt8]]

  init(_ source: SwiftSource) {
    imports = ImportStatement.all(in: source)
    let inImports = Set(imports.flatMap { Array($0.tokens) })
    let prefix = Array("NIO".utf8)
    var (usesNIO, usesLocks, usesShared) = (false, false, false)
    var origins: [[UInt8]: [UInt8]] = [:]
    for index in source.tokens.indices where source.tokens[index].kind == .word && !inImports.contains(index)
    {
      let word = source[index]
      if word.starts(with: prefix), !Modules.withoutSuccessor.contains(Array(word)) { usesNIO = true }
      if word.first.map({ $0 < 0x60 }) == true {
        if Modules.namesOfNIO.contains(Array(word)) { usesNIO = true }
        if Modules.locks.contains(Array(word)) { usesLocks = true }
        if Modules.shared.contains(Array(word)) { usesShared = true }
      }
      if source.isToken("let", at: index) || source.isToken("var", at: index),
        let (name, origin) = Self.origin(after: index, in: source)
      {
        origins[name] = origin
      }
    }
    (self.usesNIO, self.usesLocks, self.usesShared) = (usesNIO, usesLocks, usesShared)
    self.origins = origins
  }

  private static func origin(after index: Int, in source: SwiftSource) -> (name: [UInt8], origin: [UInt8])? {
    guard source.isWord(index + 1), source.isToken("=", at: index + 2) else { return nil }
    var at = index + 3
    while source.isToken("try", at: at) || source.isToken("await", at: at) { at += 1 }
    return source.isWord(at) ? (Array(source[index + 1]), Array(source[at])) : nil
  }

  func imports(_ modules: Set<[UInt8]>) -> Bool { imports.contains { modules.contains($0.name) } }

  func imports(_ module: String) -> Bool { imports.contains { $0.name.elementsEqual(module.utf8) } }

  func isDeclared(_ name: [UInt8], as origin: String) -> Bool {
    origins[name].map { $0.elementsEqual(origin.utf8) } ?? false
  }

  /// Whether imports of NIO stay.
  var keepsNIO: Bool { usesNIO && imports(Modules.nio.subtracting([Modules.helpers])) }
}
