/// The names of all files of a package that decide what is certain.
package struct PackageNames: Sendable {
  /// What its hand-written files declare outside of functions: no rule is about these names.
  private var declared: Set<[UInt8]> = []
  /// The clients and providers that grpc-swift generated.
  private var generated: Set<[UInt8]> = []
  /// The methods of each generated factory of interceptors.
  private var factories: [[UInt8]: Set<[UInt8]>] = [:]
  /// The methods that hand-written files add to clients of grpc-swift 1.
  private var added: Set<[UInt8]> = []
  private var usesFirst = false
  private var usesSecond = false

  /// More names than a package of this size has are not kept.
  private static let most = 200_000
  private static let longest = 500
  private static let keywords = Set(
    ["class", "struct", "enum", "protocol", "actor", "typealias", "func", "var", "let", "case"].map {
      Array($0.utf8)
    }
  )
  private static let protocolSuffix = Array("ClientProtocol".utf8)
  private static let factorySuffix = Array("InterceptorFactoryProtocol".utf8)

  package init() {}

  /// Adds the names of a file.
  package mutating func add(_ bytes: [UInt8]) {
    let source = SwiftSource(bytes)
    if GeneratedFile.generator(of: bytes) != nil { return addGenerated(source) }
    let facts = ImportStatement.all(in: source)
    usesFirst = usesFirst || facts.contains { Modules.one.contains($0.name) }
    usesSecond = usesSecond || facts.contains { Modules.two.contains($0.name) }
    var scopes = Scopes()
    var endOfExtension = 0
    for index in source.tokens.indices where declared.count < Self.most {
      if index >= endOfExtension, Self.extendsClient(index, in: source),
        let body = Self.body(of: index, in: source)
      {
        endOfExtension = body.upperBound
        for token in body where source.isToken("func", at: token) { added.insert(Array(source[token + 1])) }
      }
      scopes.pass(index, in: source)
      if !scopes.isInCode, isDeclaration(index, in: source) { declared.insert(Array(source[index + 1])) }
    }
  }

  /// Whether an extension of a client, or of what all clients of a service conform to, begins at a token.
  private static func extendsClient(_ index: Int, in source: SwiftSource) -> Bool {
    guard source.isToken("extension", at: index), source.isWord(index + 1) else { return false }
    let name = source.lastWord(ofNameAt: index + 1)
    return CallObjects.isClient(source[name])
      || source[name].suffix(protocolSuffix.count) == protocolSuffix[...]
  }

  private func isDeclaration(_ index: Int, in source: SwiftSource) -> Bool {
    source.isWord(index) && source.isWord(index + 1) && source[index + 1].count < Self.longest
      && Self.keywords.contains(Array(source[index]))
  }

  private mutating func addGenerated(_ source: SwiftSource) {
    var index = 0
    while index < source.tokens.count, generated.count < Self.most {
      if isDeclaration(index, in: source) {
        let name = Array(source[index + 1])
        generated.insert(name)
        if source.isToken("protocol", at: index),
          name.suffix(Self.factorySuffix.count) == Self.factorySuffix[...],
          let body = Self.body(of: index, in: source)
        {
          factories[name] = Set(body.filter { source.isToken("func", at: $0) }.map { Array(source[$0 + 1]) })
          index = body.upperBound
        }
      }
      index += 1
    }
  }

  /// The tokens between the braces of a declaration, which begin soon.
  private static func body(of declaration: Int, in source: SwiftSource) -> Range<Int>? {
    guard
      let open = (declaration..<source.tokens.count).prefix(100).first(where: { source.isToken("{", at: $0) }
      ),
      let close = source.partner(of: open)
    else { return nil }
    return open..<close
  }

  /// Whether a file imports grpc-swift 1 or 2.
  var usesGRPCSwift: Bool { usesFirst || usesSecond }

  /// Whether a file that imports neither is about grpc-swift 2.
  var usesOnlySecond: Bool { usesSecond && !usesFirst }

  func isDeclared(_ name: ArraySlice<UInt8>) -> Bool { declared.contains(Array(name)) }

  /// Whether the package itself has added a method of this name to a client.
  func isAdded(_ method: ArraySlice<UInt8>) -> Bool { added.contains(Array(method)) }

  /// Whether a name is one that the generator makes: it has made it, or it has an underscore after a package's name.
  func isGenerated(_ name: ArraySlice<UInt8>) -> Bool {
    generated.contains(Array(name)) || name.contains(UInt8(ascii: "_"))
  }

  /// The methods that a generated factory has; nil for any other name.
  func methods(ofFactory name: ArraySlice<UInt8>) -> Set<[UInt8]>? { factories[Array(name)] }
}
