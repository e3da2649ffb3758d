import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// Why a resource is refused: the field, and what is wrong with it.
struct ResourceFault: Error, Hashable, Sendable, CustomStringConvertible {
  var path: String
  var reason: String

  init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  /// What a policy says of its configuration, whose path begins with `start`.
  init(_ mistake: GRPCStatus, within start: String = "") {
    let known = mistake.configMistake
    self.init(
      known.map { String(Substring($0.path.utf8.dropFirst(start.utf8.count))) } ?? "",
      (known?.reason ?? mistake.message ?? "").excerpt(300)
    )
  }

  static let tooManyResources = ResourceFault(
    "",
    "the response has more than \(ResourceReader.countLimit) resources and errors of resources"
  )

  var description: String { path.isEmpty ? reason : "\(path): \(reason)" }

  /// The same fault, of a part of something.
  func inside(_ outer: String) -> ResourceFault {
    ResourceFault(path.isEmpty ? outer : path.begins(with: "[") ? outer + path : "\(outer).\(path)", reason)
  }
}

/// Reads a part of a resource. Faults say where it is.
func part<Value>(
  _ path: @autoclosure () -> String,
  _ read: () throws(ResourceFault) -> Value
) throws(ResourceFault) -> Value {
  do throws(ResourceFault) {
    return try read()
  } catch { throw error.inside(path()) }
}

extension String {
  /// A name in a resource. It must be there, and must not be slow to compare: configs with names in them are compared as Swift
  /// compares strings.
  func name(_ path: String) throws(ResourceFault) -> String {
    guard !isEmpty else { throw ResourceFault(path, "is empty") }
    guard !hasLongRunOfMarks else { throw ResourceFault(path, "has too many combining marks in a row") }
    return self
  }
}

/// Reads the elements of a list.
func parts<Element, Value>(
  _ path: String,
  _ elements: [Element],
  _ read: (Element) throws(ResourceFault) -> Value?
) throws(ResourceFault) -> [Value] {
  var values: [Value] = []
  for (position, element) in elements.enumerated() {
    if let value = try part("\(path)[\(position)]", { () throws(ResourceFault) in try read(element) }) {
      values.append(value)
    }
  }
  return values
}
