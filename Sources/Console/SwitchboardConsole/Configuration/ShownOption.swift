import ConsoleMessages
import SwitchboardCall

/// A value whose text reveals nothing but a number, a choice or a time. Text of the program's own is none.
protocol ShownValue: Sendable {
  var shown: String { get }
}

/// An option that the console shows.
///
/// The console shows only what a list names. Values of types that hold no secrets are shown as they are; for all others, the
/// list says what is shown of them. An option that is added later is not shown until somebody has thought of that, which a
/// test demands.
struct ShownOption<Options: Sendable>: Sendable {
  let name: String
  let text: @Sendable (Options) -> String

  init<Value: ShownValue>(_ name: String, _ option: KeyPath<Options, Value> & Sendable) {
    self.init(name) { $0[keyPath: option].shown }
  }

  init(_ name: String, bytes option: KeyPath<Options, Int> & Sendable) {
    self.init(name) { $0[keyPath: option].shownBytes }
  }

  init(_ name: String, _ text: @escaping @Sendable (Options) -> String) {
    (self.name, self.text) = (name, text)
  }
}

/// The options of one kind that the console shows.
struct ShownOptions<Options: Sendable>: Sendable {
  let all: [ShownOption<Options>]

  init(_ all: [ShownOption<Options>]) { self.all = all }

  /// The options line by line. `source` says where one comes from that is not the default; by default, from the program.
  func lines(
    _ options: Options,
    standard: Options,
    source: (ShownOption<Options>) -> String? = { _ in nil }
  ) -> [Switchboard_Console_V1_Option] {
    all.map { option in
      let (value, standard) = (option.text(options), option.text(standard))
      return .with {
        $0.name = option.name
        $0.value = value.bounded
        $0.standard = standard.bounded
        $0.isChanged = !value.utf8.elementsEqual(standard.utf8)
        $0.source = source(option) ?? ($0.isChanged ? "code" : "")
      }
    }
  }
}

extension String {
  private static let mostBytes = 2000

  /// What fits into a line of the page.
  var bounded: String {
    utf8.count <= Self.mostBytes ? self : String(decoding: utf8.prefix(Self.mostBytes), as: UTF8.self) + "…"
  }
}

// MARK: - Values

extension Bool: ShownValue {
  var shown: String { self ? "yes" : "no" }
}

extension Int: ShownValue {
  var shown: String { self == .max ? "no limit" : "\(self)" }

  /// As a number of bytes.
  var shownBytes: String {
    guard self != .max else { return "no limit" }
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] where self >= 1 << shift {
      guard self & (1 << shift - 1) == 0 else { continue }
      return "\(self >> shift) \(unit)"
    }
    return "\(self) bytes"
  }
}

extension Double: ShownValue {
  var shown: String { "\(self)" }
}

extension Duration: ShownValue {
  var shown: String {
    let (seconds, attoseconds) = components
    guard attoseconds == 0, seconds >= 120 else { return readable }
    guard seconds < Int32.max else { return "no limit" }
    return seconds % 3600 == 0 ? "\(seconds / 3600) h" : seconds % 60 == 0 ? "\(seconds / 60) min" : readable
  }
}

extension Optional: ShownValue where Wrapped: ShownValue {
  var shown: String { self?.shown ?? "none" }
}

extension MessageCompression: ShownValue {
  var shown: String { self == .none ? "none" : "\(self)" }
}

extension CallProtocol: ShownValue {
  var shown: String {
    switch self {
    case .grpc: "gRPC"
    case .grpcWeb: "gRPC-Web"
    case .connect: "Connect"
    }
  }
}

extension HTTPVersion: ShownValue {
  var shown: String { self == .http1 ? "HTTP/1.1" : "HTTP/2 or what is negotiated" }
}

extension TLSVersion: ShownValue {
  var shown: String { self == .tls12 ? "TLS 1.2 and newer" : "TLS 1.3" }
}

extension LogLevel: ShownValue {
  var shown: String { "\(self)" }
}

extension Logger: ShownValue {
  /// The type of its handler, and the level.
  var shown: String {
    handler.map { "\(TypeName($0)), from \(minimumLevel.shown) on" } ?? "quiet"
  }
}

/// The name of a value's type, which the program's code chooses. What the value describes itself as might be a secret.
struct TypeName: CustomStringConvertible {
  let description: String

  init(_ value: Any) { description = String(describing: type(of: value)) }

  /// Those of all of these, or `none`.
  static func list(_ values: [some Any]) -> String {
    values.isEmpty ? "none" : values.map { TypeName($0).description }.listed
  }

  static func of(_ value: (some Any)?) -> String { value.map { TypeName($0).description } ?? "none" }
}

extension [String] {
  private static var most: Int { 20 }

  /// A list of names.
  var listed: String {
    let first = prefix(Self.most).joined(separator: ", ")
    return count > Self.most ? "\(first) and \(count - Self.most) more" : first
  }
}
