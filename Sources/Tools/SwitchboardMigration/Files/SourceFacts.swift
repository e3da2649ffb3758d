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
  /// For each token, whether it is in the braces of a `var`, where nothing may be thrown as a rule.
  let areInProperties: [Bool]
  /// For each token, whether it is in an interceptor of grpc-swift 2.
  let areInInterceptors: [Bool]
  private let origins: Origins

  init(_ source: SwiftSource) {
    imports = ImportStatement.all(in: source)
    let inImports = Set(imports.flatMap { Array($0.tokens) })
    let prefix = Array("NIO".utf8)
    var (usesNIO, usesLocks, usesShared) = (false, false, false)
    var scopes = Scopes()
    var (areInTypes, areInProperties): ([Bool], [Bool]) = ([], [])
    for index in source.tokens.indices {
      scopes.pass(index, in: source)
      areInTypes.append(scopes.isInType)
      areInProperties.append(scopes.isInProperty)
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
    }
    (self.usesNIO, self.usesLocks, self.usesShared) = (usesNIO, usesLocks, usesShared)
    (self.areInTypes, self.areInProperties) = (areInTypes, areInProperties)
    areInInterceptors = InterceptorCode.tokens(in: source)
    origins = Origins(source)
  }

  func imports(_ modules: Set<[UInt8]>) -> Bool { imports.contains { modules.contains($0.name) } }

  func imports(_ module: String) -> Bool { imports.contains { $0.name.elementsEqual(module.utf8) } }

  func isDeclared(_ name: [UInt8], as origin: Origin) -> Bool { origins[name] == origin }

  /// Whether imports of NIO stay.
  var keepsNIO: Bool { usesNIO && imports(Modules.nio.subtracting([Modules.helpers])) }
}
