/// How the messages of a call are written, as its content type says: what follows `application/grpc+`.
@frozen
public struct ContentSubtype: Hashable, Sendable {
  /// The name in lower case; `nil` where the content type is `application/grpc` alone.
  public let name: String?

  /// What the method's own marshallers write and read: the content type is `application/grpc` alone.
  @inlinable
  public static var unnamed: ContentSubtype { ContentSubtype() }
  /// Protobuf in binary.
  public static let proto = ContentSubtype("proto")
  /// JSON.
  public static let json = ContentSubtype("json")

  @inlinable
  init() {
    name = nil
  }

  /// A name of one's own. What cannot stand in the name of a media type is left out of it.
  public init(_ name: String) {
    let token = name.utf8.filter(Self.isAllowed).map { (65...90).contains($0) ? $0 + 32 : $0 }
    self.name = token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
  }

  /// Whether the content type is `application/grpc` alone.
  @inlinable
  public var isUnnamed: Bool { name == nil }

  /// The whole content type.
  public var contentType: String { name.map { "application/grpc+\($0)" } ?? "application/grpc" }

  /// The characters of RFC 6838's names.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default:
      "!#$&-^_.+".utf8.contains(byte)
    }
  }

  /// What a call says whose messages these marshallers write: where they do not agree, it is left to the method.
  @inlinable
  static func of(_ requests: some Marshaller, _ responses: some Marshaller) -> ContentSubtype {
    let subtype = requests.contentSubtype
    return subtype.isUnnamed || subtype != responses.contentSubtype ? .unnamed : subtype
  }
}

extension ContentSubtype: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral name: String) { self.init(name) }

  public var description: String { contentType }
}
