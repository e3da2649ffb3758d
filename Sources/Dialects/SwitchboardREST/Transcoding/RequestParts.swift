import Switchboard

/// What a request's message is made of, as the bytes that a marshaller receives:
///
/// ```
///   number │ size, media type │ size, query │ size, text of a variable │ … │ body
/// ```
/// Numbers and sizes have four bytes. In a stream, only the first message has the parts between its number and the body: the
/// path and the query may be thousands of times as long as a JSON value.
struct RequestParts {
  /// The number of the message in a stream, from 1; 0 if the request is one message.
  private(set) var number = 0
  /// The media type of the body, if the message has it.
  private(set) var mediaType: ArraySlice<UInt8> = []
  private(set) var query: ArraySlice<UInt8> = []
  /// What the path has for each variable of the route.
  private(set) var texts: [ArraySlice<UInt8>] = []
  private(set) var body: [UInt8] = []

  /// With this body some clients send nothing.
  static let nothing = Array("{}".utf8)

  /// A body without its white space.
  static func content<Bytes: Collection<UInt8>>(of body: Bytes) -> LazyFilterSequence<Bytes> {
    body.lazy.filter { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
  }

  /// The bytes before the body of a message after the first of a stream.
  static func head(ofMessage number: Int) -> [UInt8] {
    var head: [UInt8] = []
    head.append(size: number)
    return head
  }

  /// The bytes before the body of any other message.
  static func head(
    of route: RESTRoute,
    _ path: RequestPath,
    query: ArraySlice<UInt8>,
    mediaType: [UInt8]
  ) -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(path.bytes.count + query.count + mediaType.count + 4 * (3 + route.variables.count))
    head.append(size: route.streamsRequests ? 1 : 0)
    head.append(part: mediaType[...])
    head.append(part: query)
    for variable in route.variables {
      head.append(part: path.text(of: variable.segments, isOpen: variable.isOpen))
    }
    return head
  }

  /// The parts of a request of which nothing but its body is part of the message.
  init(body: RawSpan) { self.body = BytesMarshaller().decode(body) }

  /// Reads what `head` has written, and the body after it.
  init(_ bytes: RawSpan, of route: RESTRoute) {
    var rest = BytesMarshaller().decode(bytes)[...]
    number = rest.takeSize()
    if number <= 1 {
      mediaType = rest.takePart()
      query = rest.takePart()
      texts = route.variables.map { _ in rest.takePart() }
    }
    body = Array(rest)
  }
}

extension ArraySlice<UInt8> {
  /// Removes a size or a number.
  mutating func takeSize() -> Int { take(4).reduce(0) { $0 << 8 | Int($1) } }

  /// Removes a part after its size.
  mutating func takePart() -> Self { take(takeSize()) }

  /// Removes bytes from the front, or all if there are fewer.
  private mutating func take(_ count: Int) -> Self {
    let end = startIndex + Swift.min(count, self.count)
    defer { self = self[end...] }
    return self[..<end]
  }
}

extension [UInt8] {
  /// Appends four bytes.
  mutating func append(size: Int) {
    let size = UInt32(clamping: size)
    for shift in stride(from: 24, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: size >> shift)) }
  }

  fileprivate mutating func append(part: ArraySlice<UInt8>) {
    append(size: part.count)
    append(contentsOf: part)
  }
}
