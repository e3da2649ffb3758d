/// What a server says about trying again, in `grpc-retry-pushback-ms`.
enum Pushback: Equatable {
  /// Nothing.
  case none
  /// Try again after this long, neither sooner nor later.
  case after(Duration)
  /// Do not try again. So says a negative value, and one that is not understood.
  case never

  static let name = "grpc-retry-pushback-ms"

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
