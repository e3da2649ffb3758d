import Switchboard
import SwitchboardDynamic

/// A request for completions of the word at the cursor.
struct CompletionRequest {
  private let words: [String]
  private let verbs: [Verb]

  /// The time limit for a server's answer.
  private let timeout: Duration

  /// `words` are those after the command's name. The last one, which may be empty, is to be completed.
  init(_ words: [String], _ verbs: [Verb], timeout: Duration) {
    self.words = words.isEmpty ? [""] : words
    self.verbs = verbs
    self.timeout = timeout
  }

  private var current: String { words.last ?? "" }

  func candidates() async -> [ShownText] {
    let shown = verbs.filter { !$0.isHidden }
    guard words.count > 1, let verb = verbs.first(where: { $0.name == words[0] }) else {
      return words.count > 1 ? [] : matching(shown.map { ($0.name, $0.summary) })
    }
    if verb.name == "help" { return matching(shown.map { ($0.name, $0.summary) }) }
    let line = Line(words.dropFirst().dropLast(), verb)
    if let flag = line.pending { return await values(flag.completion, line, verb) }
    if current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
      guard let flag = verb.allFlags.first(where: { $0.names.contains(String(current[..<equals])) }) else {
        return []
      }
      if case .words(let words) = flag.completion {
        return matching(words.map { ("\(flag.name)=\($0)", "") })
      }
      return []
    }
    if current.hasPrefix("-") {
      let flags = verb.allFlags.filter { $0.repeats || line.given.isDisjoint(with: $0.names) }
      return matching(flags.map { ($0.name, $0.text) })
    }
    guard let operand = line.operand else { return [] }
    return await values(operand.completion, line, verb)
  }

  /// The part of the line before the current word.
  private struct Line {
    /// The flags that were given.
    var given: Set<String> = []
    /// The flag whose value is to be completed.
    var pending: Flag?
    /// The operand that is to be completed.
    var operand: Operand?

    init(_ words: some Sequence<String>, _ verb: Verb) {
      var count = 0
      var hasOnlyOperands = false
      for word in words {
        if pending != nil {
          pending = nil
        } else if !hasOnlyOperands, word == "--" {
          hasOnlyOperands = true
        } else if !hasOnlyOperands, word.hasPrefix("-"), word != "-" {
          let name = String(word.prefix { $0 != "=" })
          given.insert(name)
          guard !word.contains("="), let flag = verb.allFlags.first(where: { $0.names.contains(name) }) else {
            continue
          }
          given.formUnion(flag.names)
          if flag.value != nil { pending = flag }
        } else {
          count += 1
        }
      }
      // With files, the optional TARGET is absent.
      let takesFiles = given.contains("--proto") || given.contains("--descriptor-set")
      if takesFiles, verb.operands.first?.isOptional == true { count += 1 }
      operand =
        verb.operands.indices.contains(count)
        ? verb.operands[count] : verb.operands.last.flatMap { $0.repeats ? $0 : nil }
    }
  }

  private func values(_ completion: Completion, _ line: Line, _ verb: Verb) async -> [ShownText] {
    switch completion {
    case .none: return []
    case .file: return [":file"]
    case .directory: return [":directory"]
    case .words(let words): return matching(words.map { ($0, "") })
    case .services, .methods, .symbols:
      return matching(await names(completion, verb).filter { Self.isName($0.0) })
    }
  }

  /// Whether a server's name is safe to offer. Text that a shell would execute must not get onto the command line.
  private static func isName(_ name: String) -> Bool {
    name.utf8.count <= 500 && name.first != "-"
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }

  // MARK: Asking the server

  private func names(_ completion: Completion, _ verb: Verb) async -> [(String, String)] {
    guard case .parsed = verb.action else { return [] }
    // The arguments without the incomplete word. They name the connection and the files.
    var line = Array(words.dropFirst().dropLast())
    while line.last == "--" { line.removeLast() }
    let lenient = Verb(
      verb.name,
      summary: "",
      usage: [],
      operands: verb.operands.map(\.optional),
      flags: verb.flags
    ) { _ in
      .success
    }
    guard let arguments = try? Arguments(line, for: lenient) else { return [] }
    return await withTaskGroup(of: [(String, String)].self) { group in
      group.addTask { (try? await Self.candidates(for: completion, arguments)) ?? [] }
      group.addTask {
        try? await Task.sleep(for: timeout)
        return []
      }
      let first = await group.next() ?? []
      group.cancelAll()
      return first
    }
  }

  private static func candidates(for completion: Completion, _ arguments: Arguments) async throws -> [(
    String, String
  )] {
    let source: SchemaSource
    var channel: Channel?
    defer { withExtendedLifetime(channel) {} }
    if let files = try SchemaSource.files(arguments) {
      source = files
    } else {
      let target = try Target(arguments)
      let opened = try target.channel()
      channel = opened
      source = .reflection(ReflectionClient(target, opened))
    }
    if completion == .services { return try await source.services().map { ($0, "") } }
    let schema = try await source.wholeSchema()
    let methods = schema.services.flatMap(\.methods).map {
      ($0.path, "\($0.requestType) → \($0.responseType)")
    }
    if completion == .methods { return methods }
    let kinds: Set<Symbol.Kind> = [.service, .message, .enum]
    let symbols = schema.symbolNames.compactMap { schema.symbol(named: $0) }.filter {
      kinds.contains($0.kind)
    }
    return symbols.map { ($0.fullName, $0.kind.rawValue) } + methods
  }

  /// The lines for the candidates that start with the current word.
  private func matching(_ candidates: [(name: String, meaning: String)]) -> [ShownText] {
    candidates.filter {
      $0.name.hasPrefix(current)
    }
    .map { $0.meaning.isEmpty ? ShownText($0.name) : "\($0.name)\t\($0.meaning)" }
  }
}

extension Operand {
  /// The operand as an optional one, because the line is incomplete.
  fileprivate var optional: Operand {
    Operand(name, isOptional: true, repeats: repeats, completion: completion, text)
  }
}
