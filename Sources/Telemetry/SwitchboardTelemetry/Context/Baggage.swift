import SwitchboardText

/// Names and values that travel with a request through all services that pass them on (W3C's `baggage`).
///
/// ```swift
/// try await Baggage.current.setting("tenant", to: "blue").inTask {
///   try await cart.price(request)  // the client passes it on if its observer was made with `passingOn: .baggage`
/// }
/// ```
/// Every service on the way can read it and may log it, so it must not contain secrets.
public struct Baggage: Sendable, Hashable {
  struct Member: Sendable, Hashable {
    let name: String
    let value: String
    /// The properties after the value, unparsed.
    let properties: String
  }

  private(set) var members: [Member] = []

  /// The maximum number of members and bytes that are read and written, as in the specification.
  static let mostMembers = 64
  static let limit = 8192

  /// Empty baggage.
  public init() {}

  /// The task's baggage: that of the call that it serves, or the one that the program has set.
  public static var current: Baggage { CallContext.current?.baggage ?? Baggage() }

  /// The value of a name.
  public subscript(name: String) -> String? { members.first { $0.name.isExactly(name) }?.value }

  /// Whether it has no members.
  public var isEmpty: Bool { members.isEmpty }

  /// All names, in order.
  public var names: [String] { members.map(\.name) }

  /// The baggage with another value for a name; `nil` removes the name. Returns it unchanged if the name is not an HTTP
  /// token, or if the limits would be exceeded.
  public func setting(_ name: String, to value: String?) -> Baggage {
    var changed = self
    changed.members.removeAll { $0.name.isExactly(name) }
    guard let value else { return changed }
    changed.members.append(Member(name: name, value: value, properties: ""))
    let isValid = Self.isToken(name) && changed.members.count <= Self.mostMembers
    return isValid && changed.header.utf8.count <= Self.limit ? changed : self
  }

  /// Runs `body` with this baggage as its task's.
  nonisolated(nonsending) public func inTask<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await CallContext.with(self, body)
  }

  // MARK: The header

  /// Reads the members of all fields of the header. Leaves out those that are invalid or exceed the limits.
  init(fields: [String]) {
    var room = Self.limit
    fields: for field in fields {
      guard field.utf8.count <= room else { break }
      room -= field.utf8.count
      for part in field.parts(separatedBy: ",", omittingEmpty: true) {
        guard members.count < Self.mostMembers else { break fields }
        let pieces = part.parts(separatedBy: ";", maxSplits: 1, omittingEmpty: true)
        guard let pair = pieces.first, let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
          continue
        }
        let name = String(pair[..<equals].trimmed)
        guard Self.isToken(name), self[name] == nil,
          let value = Self.decoded(pair[pair.utf8.index(after: equals)...].trimmed)
        else { continue }
        let properties = pieces.count > 1 ? String(pieces[1].trimmed) : ""
        guard properties.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { continue }
        members.append(Member(name: name, value: value, properties: properties))
      }
    }
    // Bytes that are not UTF-8 take up to three times the space when written, and servers might refuse the calls that
    // carry them.
    guard (Self.limit - room) * 3 > Self.limit else { return }
    while header.utf8.count > Self.limit { members.removeLast() }
  }

  /// The value of the header.
  var header: String {
    members.map { member in
      let value = "\(member.name)=\(Self.encoded(member.value))"
      return member.properties.isEmpty ? value : "\(value);\(member.properties)"
    }.joined(separator: ",")
  }

  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (0x21...0x7e).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
      }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7e).contains(byte) && !"\",;\\%".utf8.contains(byte)
  }

  private static func encoded(_ value: String) -> String {
    String(decoding: PercentEncoding.encode(value.utf8, except: isPlain), as: UTF8.self)
  }

  private static func decoded(_ value: Substring) -> String? {
    value.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "%") } ? value.percentDecoded : nil
  }
}

extension Substring {
  /// The text that `%` and two digits encode bytes of; any other `%` stands for itself.
  var percentDecoded: String {
    String(decoding: PercentEncoding.decode(Array(utf8)), as: UTF8.self)
  }
}
