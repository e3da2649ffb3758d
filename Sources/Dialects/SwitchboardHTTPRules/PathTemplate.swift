import SwitchboardText

/// The template of a path, as `google/api/http.proto` defines it: `/v1/{name=shelves/*/books/*}:publish`.
package struct PathTemplate: Hashable, Sendable {
  /// The pattern of one segment of a path.
  package enum Segment: Hashable, Sendable {
    /// Exactly this text.
    case literal(String)
    /// `*`: any one segment.
    case one
    /// `**`: any number of segments; always the last.
    case rest
  }

  /// A part of the path that sets a field of the request.
  package struct Variable: Hashable, Sendable {
    /// The names of the field and its enclosing fields, outermost first.
    package var fieldPath: [String]
    /// The segments, by their indexes in the template.
    package var segments: Range<Int>
    /// Whether it can match several segments. An escaped slash in its value then differs from a slash.
    package var isMultiple: Bool
  }

  package private(set) var segments: [Segment] = []
  package private(set) var variables: [Variable] = []
  /// The custom verb: the text after the last colon.
  package private(set) var verb: String?

  /// The most segments of a template. Real ones have a few.
  package static let maximumSegments = 64

  /// Parses a template. Throws if it does not follow the grammar.
  package init(_ text: String) throws(RuleMistake) {
    var parser = Parser(rest: text.utf8[...], text: text)
    guard parser.take("/") else { throw parser.fail("does not start with a slash") }
    try parser.segments(into: &self, inVariable: false)
    if parser.take(":") {
      verb = try parser.literal("a verb")
    }
    guard parser.rest.isEmpty else { throw parser.fail("has text after its end") }
    for (index, segment) in segments.enumerated() where segment == .rest {
      guard index == segments.count - 1 else { throw parser.fail("has segments after **") }
    }
    for (index, variable) in variables.enumerated() {
      guard !variables[..<index].contains(where: { $0.fieldPath == variable.fieldPath }) else {
        throw parser.fail("has the variable \(variable.fieldPath.joined(separator: ".")) twice")
      }
    }
  }

  /// The path, if there is only one that matches.
  package var onlyPath: String? {
    var path = ""
    for segment in segments {
      guard case .literal(let text) = segment else { return nil }
      path += "/" + text
    }
    return path + (verb.map { ":" + $0 } ?? "")
  }

  /// What two templates have in common that match the same paths, whatever their variables are.
  package struct Shape: Hashable, Sendable {
    fileprivate let segments: [Segment]
    fileprivate let verb: String?
  }

  package var shape: Shape { Shape(segments: segments, verb: verb) }
}

extension PathTemplate {
  private struct Parser {
    var rest: Substring.UTF8View
    let text: String

    func fail(_ reason: String) -> RuleMistake { RuleMistake("the template \"\(text)\" \(reason)") }

    mutating func take(_ wanted: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: wanted) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func segments(into template: inout PathTemplate, inVariable: Bool) throws(RuleMistake) {
      repeat {
        guard template.segments.count < PathTemplate.maximumSegments else {
          throw fail("has too many segments")
        }
        if take("*") {
          template.segments.append(take("*") ? .rest : .one)
        } else if take("{") {
          guard !inVariable else { throw fail("has a variable in a variable") }
          try variable(into: &template)
        } else {
          template.segments.append(.literal(try literal("a segment")))
        }
      } while take("/")
    }

    private mutating func variable(into template: inout PathTemplate) throws(RuleMistake) {
      var path: [String] = []
      repeat { path.append(try identifier()) } while take(".")
      let start = template.segments.count
      if take("=") {
        try segments(into: &template, inVariable: true)
      } else {
        template.segments.append(.one)
      }
      guard take("}") else { throw fail("has a variable without its end") }
      let range = start..<template.segments.count
      let isMultiple = range.count > 1 || template.segments[start] == .rest
      template.variables.append(Variable(fieldPath: path, segments: range, isMultiple: isMultiple))
    }

    private mutating func identifier() throws(RuleMistake) -> String {
      let name = rest.prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
      guard let first = name.first, !first.isDigit else { throw fail("has a variable without a name") }
      rest = rest[name.endIndex...]
      return String(Substring(name))
    }

    /// What to write for the variable of another notation that comes next: `:name`, `<name>` or `<int:name>`.
    private var foreignVariable: String? {
      let written: Substring.UTF8View
      var name: Substring.UTF8View
      if rest.first == UInt8(ascii: ":") {
        name = rest.dropFirst().prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        written = rest[..<name.endIndex]
      } else if rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) {
        name = rest[..<end].dropFirst()
        if let colon = name.lastIndex(of: UInt8(ascii: ":")) { name = name[colon...].dropFirst() }
        written = rest[...end]
      } else {
        return nil
      }
      guard !name.isEmpty else { return nil }
      return ": write {\(Substring(name))} for \(Substring(written))"
    }

    /// Parses the text of a segment or verb. Nothing is percent-decoded.
    mutating func literal(_ what: String) throws(RuleMistake) -> String {
      let text = rest.prefix { $0.isLetter || $0.isDigit || "-_.~!$&'()+,;@%".utf8.contains($0) }
      guard !text.isEmpty else { throw fail("lacks \(what)" + (foreignVariable ?? "")) }
      rest = rest[text.endIndex...]
      return String(Substring(text))
    }
  }
}
