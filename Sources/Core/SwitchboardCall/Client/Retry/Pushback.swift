/// A server's instruction on retrying, in `grpc-retry-pushback-ms`.
enum Pushback: Equatable {
  /// No instruction.
  case none
  /// Retry after exactly this time.
  case after(Duration)
  /// Do not retry: the value is negative or invalid.
  case never

  static let name = "grpc-retry-pushback-ms"

  /// A value that is no number, and so forbids what its sender probably asked for.
  static func mistake(in trailers: HPACKHeaders) -> String? {
    trailers.first(name: name).flatMap { Int32($0) == nil ? $0 : nil }
  }

  init(_ trailers: HPACKHeaders) {
    guard let value = trailers.first(name: Self.name) else {
      self = .none
      return
    }
    if let milliseconds = Int32(value), milliseconds >= 0 {
      self = .after(.milliseconds(milliseconds))
    } else {
      self = .never
    }
  }
}
