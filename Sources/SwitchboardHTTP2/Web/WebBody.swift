/// What a call of gRPC-Web has beyond one of gRPC: base64 where it is text, and trailers at the end of its body.
final class WebBody {
  let isText: Bool
  private var decoder = Base64Decoder()
  /// What is to be sent before anything else.
  private var staged: [UInt8] = []
  private var offset = 0
  private var isEnding = false

  init(_ format: WebFormat) {
    isText = format == .text
  }

  // MARK: Requests

  /// The bytes that a piece of the body stands for; `nil` when it is not base64.
  func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? { decoder.decode(text) }

  /// Whether the body cannot end here.
  var isInsideGroup: Bool { decoder.isInsideGroup }

  // MARK: Responses

  var hasStaged: Bool { offset < staged.count }

  func stage(_ bytes: some Collection<UInt8>) {
    if !hasStaged {
      staged.removeAll(keepingCapacity: true)
      offset = 0
    }
    if isText { Base64Text.append(bytes, to: &staged) } else { staged += bytes }
  }

  /// The last that is sent: the trailers as a message of their own, marked by its flag.
  func stageTrailers(_ lines: [UInt8]) {
    let length = UInt32(clamping: lines.count)
    stage([0x80] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + lines)
    isEnding = true
  }

  func takeStaged(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    let count = min(buffer.count, staged.count - offset)
    staged.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }
    offset += count
    return isEnding && !hasStaged ? .last(count) : .copied(count)
  }
}
