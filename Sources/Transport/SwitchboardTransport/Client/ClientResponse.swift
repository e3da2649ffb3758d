import SwitchboardCall

/// What has arrived of a response beside its messages.
///
/// ```
///   no head ──head──> metadata to deliver ──delivered──> messages ──trailers──> whole
///      └──a head that is informational, or another attempt──> no head
/// ```
struct ClientResponse {
  var head: ResponseHead
  /// The metadata, until the receiver has it.
  private var metadata: HPACKHeaders?
  var trailers = HPACKHeaders()

  init(headSizeLimit: Int) { head = ResponseHead(listSizeLimit: headSizeLimit) }

  mutating func deliverLater(_ metadata: HPACKHeaders) { self.metadata = metadata }

  /// The metadata to deliver, once.
  @inline(__always)
  mutating func takeMetadata() -> HPACKHeaders? { metadata.take() }
}
