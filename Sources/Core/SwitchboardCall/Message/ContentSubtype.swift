/// The message format that a call's content type names after `application/grpc+`.
@frozen
public struct ContentSubtype: Hashable, Sendable {
  /// The name in lower case; `nil` if the content type is `application/grpc` alone.
  public let name: String?

  /// The method's own format; the content type is `application/grpc` alone.
  @inlinable
  public static var unnamed: ContentSubtype { ContentSubtype() }
  /// Protobuf's binary format.
  public static let proto = ContentSubtype("proto")
  /// JSON.
  public static let json = ContentSubtype("json")

  @inlinable
  init() {
    name = nil
  }

  /// Creates a subtype with a custom name. Characters that a media type cannot contain are left out.
  public init(_ name: String) {
    let token = name.utf8.filter(Self.isAllowed).map { (65...90).contains($0) ? $0 + 32 : $0 }
    self.name = token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
  }

  /// Whether the content type is `application/grpc` alone.
  @inlinable
  package var isUnnamed: Bool { name == nil }

  /// The whole content type.
  package var contentType: String { name.map { "application/grpc+\($0)" } ?? "application/grpc" }

  /// The characters that RFC 6838 allows.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default:
      "!#$&-^_.+".utf8.contains(byte)
    }
  }

  /// The subtype of calls with these marshallers: unnamed if the two differ.
  @inlinable
  static func of(_ requests: some Marshaller, _ responses: some Marshaller) -> ContentSubtype {
    let subtype = requests.contentSubtype
    return subtype.isUnnamed || subtype != responses.contentSubtype ? .unnamed : subtype
  }
}

extension ContentSubtype: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) { self.init(name) }
}
