// The part of SwiftProtobuf's API that the bridge uses, because the tests do not fetch that package.

/// Containers that the library reads and fills.
public protocol SwiftProtobufContiguousBytes {
  init(repeating: UInt8, count: Int)
  init<S: Sequence>(_ sequence: S) where S.Element == UInt8
  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: SwiftProtobufContiguousBytes {}

public protocol ExtensionMap: Sendable {}

public struct BinaryEncodingOptions: Sendable {
  public init() {}
}

public struct BinaryDecodingOptions: Sendable {
  public init() {}
}

public struct JSONEncodingOptions: Sendable {
  public init() {}
}

public struct JSONDecodingOptions: Sendable {
  public init() {}
}

/// Two text methods exist only in the stand-in: a message is the text it holds.
public protocol Message: Sendable {
  init()
  var standInText: String { get set }
}

public struct StandInError: Error {
  public let reason: String
}

extension Message {
  public func serializedBytes<Bytes: SwiftProtobufContiguousBytes>(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws -> Bytes {
    guard standInText != "unwritable" else { throw StandInError(reason: standInText) }
    // Field 1, of type string, if it is short.
    return Bytes([10, UInt8(standInText.utf8.count)] + Array(standInText.utf8))
  }

  public init<Bytes: SwiftProtobufContiguousBytes>(
    serializedBytes bytes: Bytes,
    extensions: (any ExtensionMap)? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws {
    let all = bytes.withUnsafeBytes { Array($0) }
    guard all.count >= 2, all[0] == 10, Int(all[1]) == all.count - 2 else {
      throw StandInError(reason: "bytes")
    }
    self.init()
    standInText = String(decoding: all[2...], as: UTF8.self)
  }

  public func jsonUTF8Bytes<Bytes: SwiftProtobufContiguousBytes>(
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws -> Bytes {
    Bytes(Array("{\"text\":\"\(standInText)\"}".utf8))
  }

  public init<Bytes: SwiftProtobufContiguousBytes>(
    jsonUTF8Bytes bytes: Bytes,
    extensions: (any ExtensionMap)? = nil,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws {
    let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    guard text.hasPrefix("{\"text\":\""), text.hasSuffix("\"}") else { throw StandInError(reason: "json") }
    self.init()
    standInText = String(text.dropFirst(9).dropLast(2))
  }
}

/// A well-known type, which both libraries have under the same name.
public struct Google_Protobuf_Timestamp: Sendable, Equatable {
  public var seconds: Int64

  public init(seconds: Int64 = 0) {
    self.seconds = seconds
  }
}
