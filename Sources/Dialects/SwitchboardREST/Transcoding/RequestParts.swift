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
  /// All of it. What follows are places in it.
  private let bytes: [UInt8]
  private var placeOfMediaType = 0..<0
  private var placeOfQuery = 0..<0
  private var startOfTexts = 0
  private var startOfBody = 0

  /// The media type of the body, if the message has it.
  var mediaType: ArraySlice<UInt8> { bytes[placeOfMediaType] }

  var query: ArraySlice<UInt8> { bytes[placeOfQuery] }

  var body: [UInt8] { startOfBody == 0 ? bytes : Array(bytes[startOfBody...]) }

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
  init(body: RawSpan) { bytes = BytesMarshaller().decode(body) }

  /// Reads what `head` has written, and the body after it.
  init(_ bytes: RawSpan, of route: RESTRoute) {
    self.bytes = BytesMarshaller().decode(bytes)
    number = self.bytes.size(at: &startOfBody)
    guard number <= 1 else { return }
    placeOfMediaType = self.bytes.part(at: &startOfBody)
    placeOfQuery = self.bytes.part(at: &startOfBody)
    startOfTexts = startOfBody
    for _ in route.variables { _ = self.bytes.part(at: &startOfBody) }
  }

  /// Calls `use` with each variable of the route, and with what the path has for it.
  func forEachText<Failure: Error>(
    of route: RESTRoute,
    _ use: (RESTRoute.Variable, ArraySlice<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var start = startOfTexts
    for variable in route.variables { try use(variable, bytes[bytes.part(at: &start)]) }
  }
}

extension [UInt8] {
  /// A size or a number at an index, which is moved behind it.
  func size(at index: inout Int) -> Int {
    let bytes = place(of: 4, at: &index)
    return bytes.reduce(0) { $0 << 8 | Int(self[$1]) }
  }

  /// Where the part is that follows its size. The index is moved behind it.
  func part(at index: inout Int) -> Range<Int> { place(of: size(at: &index), at: &index) }

  /// Where so many bytes are, or all that are left if there are fewer.
  private func place(of count: Int, at index: inout Int) -> Range<Int> {
    let start = index
    index += Swift.min(count, self.count - index)
    return start..<index
  }

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
