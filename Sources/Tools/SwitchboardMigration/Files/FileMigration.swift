/// What is different in one file with Switchboard, and the file with the changes that are certain.
package struct FileMigration: Sendable {
  /// What a person reads, in the order of the file: of the file as it was.
  package let findings: [Finding]
  /// What is left to a person once the file is changed, with its line then; and what a person should look at although nothing
  /// in the changed file shows it any more, with its line before.
  package let left: [Finding]
  /// The file with the certain changes.
  package let changed: [UInt8]
  /// How many changes were made.
  package let changes: Int

  /// A change may make room for others: one of a name in an expression that is changed.
  private static let mostPasses = 6

  package init(_ bytes: [UInt8], isManifest: Bool, names: PackageNames, _ settings: MigrationSettings) {
    let all = Self.findings(bytes, isManifest, names, settings)
    var (current, latest, changes) = (bytes, all, 0)
    for _ in 0..<Self.mostPasses {
      let edits = latest.compactMap(\.edit)
      guard !edits.isEmpty else { break }
      current = Edits(edits).applied(to: current)
      changes += edits.count
      latest = Self.findings(current, isManifest, names, settings)
    }
    findings = all
    let known = Set(latest.map(\.words))
    left = latest + all.filter { $0.edit == nil && !known.contains($0.words) }
    changed = current
    self.changes = changes
  }

  private static func findings(
    _ bytes: [UInt8],
    _ isManifest: Bool,
    _ names: PackageNames,
    _ settings: MigrationSettings
  ) -> [Finding] {
    let source = SwiftSource(bytes)
    let facts = SourceFacts(source)
    var check = RuleCheck(source: source, facts: facts, names: names)
    guard !isManifest else {
      let isOurs = source.tokens.indices.contains {
        source.tokens[$0].kind == .text && source.text(source.tokens[$0].range).contains("grpc-swift")
      }
      guard isOurs else { return [] }
      check.values =
        settings.dependency.map { ["declaration": $0.declaration, "switchboard": $0.name] } ?? [:]
      return check.findings(by: RuleTable(ManifestRules.rules(settings))).sorted { $0.offset < $1.offset }
    }
    let imports = ImportChanges(
      source: source,
      facts: facts,
      usesGRPCSwift: names.usesGRPCSwift,
      keepsMessages: settings.keepsMessages
    )
    var findings = imports.findings()
    let isSwitchboard = facts.imports("Switchboard")
    // A file that imports only NIO, or what both have, is about gRPC if its imports are.
    let isAboutGRPC = !findings.isEmpty
    let isSecond = facts.imports(Modules.two) || isAboutGRPC && names.usesOnlySecond
    if isSwitchboard || facts.imports(Modules.one) || isAboutGRPC && !isSecond {
      let handlers = FutureHandlers(source: source)
      findings += handlers.findings
      let calls = CallObjects(source: source, facts: facts, names: names)
      findings += calls.findings
      check.taken = handlers.tokens.union(calls.tokens)
      findings += check.findings(by: settings.keepsMessages ? .oneWithMessages : .one)
    }
    if isSwitchboard || isSecond { findings += check.findings(by: .two) }
    findings += isSwitchboard || !findings.isEmpty ? TypeBodies(source: source, names: names).findings() : []
    return findings.sorted { ($0.offset, $0.edit == nil ? 1 : 0) < ($1.offset, $1.edit == nil ? 1 : 0) }
  }
}
