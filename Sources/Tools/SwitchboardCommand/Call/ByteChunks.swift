import Dispatch
import Switchboard
import SwitchboardToolSupport

/// Supplies bytes as they arrive.
final class ByteChunks: Sendable {
  private enum Source {
    case bytes([UInt8])
    case descriptor(Descriptor)
    case ended
  }

  private static let chunkSize = 1 << 16
  private let source: Locked<Source>
  private let isFirst = Locked(true)
  private let isFile: Bool

  init(_ data: TextOrFile?) throws(Failure) {
    isFile = if case .file? = data { true } else { false }
    switch data {
    case nil: source = Locked(.ended)
    case .text(let text)?: source = Locked(.bytes(Array(text.utf8)))
    case .input?: source = Locked(.descriptor(.standardInput))
    case .file(let path)?:
      do { source = Locked(.descriptor(try Descriptor(reading: path))) } catch { throw .unreadable(error) }
    }
  }

  deinit {
    if isFile, case .descriptor(let file) = source.withLock({ $0 }) { try? file.closeFile() }
  }

  /// The next bytes; nil at the end. Blocks a thread of Dispatch, not of Swift's thread pool.
  func next() async throws -> [UInt8]? {
    let descriptor: Descriptor
    switch source.withLock({ $0 }) {
    case .ended: return nil
    case .bytes(let bytes):
      source.withLock { $0 = .ended }
      return bytes
    case .descriptor(let open): descriptor = open
    }
    let result: Result<[UInt8], SystemError> = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          returning: Result { () throws(SystemError) in try descriptor.readSome(Self.chunkSize) }
        )
      }
    }
    do {
      let bytes = try result.get()
      return bytes.isEmpty ? nil : withoutMark(bytes)
    } catch {
      throw Failure.unreadable(error)
    }
  }

  /// The bytes, without the mark at the beginning of a file.
  private func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
    let isFirst = isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    return isFirst ? TextOrFile.withoutMark(bytes) : bytes
  }
}
