/// What becomes of a file's imports.
struct ImportChanges {
  let source: SwiftSource
  let facts: SourceFacts
  /// Whether the package uses grpc-swift, and not only NIO.
  let usesGRPCSwift: Bool
  let keepsMessages: Bool

  func findings() -> [Finding] {
    // A name that NIO shares is gRPC's if nothing else of NIO is used.
    let isAboutGRPC = usesGRPCSwift && (facts.imports(Modules.one.union(Modules.two)) || facts.usesShared)
    var present = Set(
      facts.imports.filter { Modules.successor(of: $0.name) == nil && $0.isPlain && !$0.isConditional }.map(
        \.name
      )
    )
    var findings: [Finding] = []
    for statement in facts.imports {
      switch successor(of: statement) {
      case .module(let name)?: findings += change(statement, to: name, &present)
      case .switchboardIfAlone? where statement.isConditional: continue
      case .switchboardIfAlone? where statement.name == Modules.helpers && facts.usesLocks: continue
      case .switchboardIfAlone? where facts.usesNIO:
        findings.append(finding(statement, nil, Self.bothAdvice))
      case .switchboardIfAlone? where isAboutGRPC: findings += change(statement, to: "Switchboard", &present)
      case .switchboardIfAlone?, nil: continue
      }
    }
    return findings
  }

  private func successor(of statement: ImportStatement) -> Modules.Successor? {
    statement.name == Modules.messages && keepsMessages ? nil : Modules.successor(of: statement.name)
  }

  private static let bothAdvice =
    "NIO stays, for other things. Channel, EventLoop, EventLoopFuture, EventLoopPromise and SocketAddress are in both: write Switchboard.EventLoopPromise<Void> in interceptors, NIOCore.Channel for NIO's."

  private func change(_ statement: ImportStatement, to name: String, _ present: inout Set<[UInt8]>)
    -> [Finding]
  {
    let module = source.tokens[statement.module].range
    let isKnown = present.contains(Array(name.utf8))
    let isWhole = statement.isPlain || statement.isTestable
    if isWhole, !statement.isConditional { present.insert(Array(name.utf8)) }
    if isWhole, isKnown, let line = statement.wholeLine(in: source) {
      return [finding(statement, Edit(range: line, pieces: []), "\(name) is imported already")]
    }
    let range = range(of: statement)
    guard !statement.isTestable else {
      let edit = Edit(range: range, pieces: [.text("import \(name)")])
      return [
        finding(statement, edit, "what is internal to a module cannot be imported from another package")
      ]
    }
    let pieces: [Edit.Piece] = [
      .kept(range.lowerBound..<module.lowerBound), .text(name), .kept(module.upperBound..<range.upperBound),
    ]
    return [finding(statement, Edit(range: range, pieces: pieces), "")]
  }

  private func finding(_ statement: ImportStatement, _ edit: Edit?, _ advice: String) -> Finding {
    Finding(range(of: statement), in: source, edit, advice)
  }

  private func range(of statement: ImportStatement) -> Range<Int> { source.bytes(of: statement.tokens) }
}
