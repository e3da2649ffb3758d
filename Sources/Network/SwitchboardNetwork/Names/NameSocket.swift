// unsafe: c-ares: a channel owned by one object, callbacks within one call into it

import CAres

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A socket from c-ares to a name server. It passes on only complete messages that `NameMessage` has validated.
final class NameSocket {
  let descriptor: Int32
  private let isStream: Bool
  /// Watches the descriptor. It must be closed before the descriptor is.
  var poll: PollHandle?
  /// How many more datagrams are read in this turn of the loop, because a server may send any number of them.
  private var datagramsLeft = NameSocket.datagramsPerTurn
  private static let datagramsPerTurn = 32
  /// The parts of a message on a stream: its length and its content.
  private var length = Piece(2)
  private var message = Piece(0)
  /// How much of both c-ares has read; `nil` until they are complete.
  private var read: Int?

  private struct Piece {
    var bytes: [UInt8]
    var filled = 0

    init(_ count: Int) { bytes = [UInt8](repeating: 0, count: count) }

    var isWhole: Bool { filled == bytes.count }
  }

  init(_ descriptor: Int32, isStream: Bool) {
    self.descriptor = descriptor
    self.isStream = isStream
  }

  func beginTurn() { datagramsLeft = Self.datagramsPerTurn }

  /// Whether c-ares has read a part of a message.
  var hasMore: Bool { read != nil }

  func close() -> Int32 {
    poll?.close()
    poll = nil
    #if canImport(Glibc)
      return Glibc.close(descriptor)
    #else
      return Darwin.close(descriptor)
    #endif
  }
}

// MARK: - Reading

extension NameSocket {
  /// Invalid datagrams are dropped: they may be forged, and the server's answer may still arrive.
  private func readDatagram(
    into buffer: UnsafeMutableRawPointer?,
    _ count: Int,
    _ from: UnsafeMutablePointer<sockaddr>?,
    _ length: UnsafeMutablePointer<ares_socklen_t>?
  ) -> Int {
    while datagramsLeft > 0 {
      datagramsLeft -= 1
      let received = recvfrom(descriptor, buffer, count, 0, from, length)
      if received < 0 { return received }
      let bytes = Array(UnsafeRawBufferPointer(start: buffer, count: received))
      if NameMessage.isSound(bytes) { return received }
    }
    errno = EAGAIN
    return -1
  }

  private func readStream(into buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    if read == nil {
      let result = receiveMessage()
      guard result > 0 else { return result }
      read = 0
    }
    // c-ares reads the length separately, and then the whole message.
    let start = read ?? 0
    let size = length.bytes.count
    let bytes = start < size ? length.bytes[start...] : message.bytes[(start - size)...]
    let piece = bytes.prefix(count)
    piece.withUnsafeBytes {
      if let base = $0.baseAddress { buffer?.copyMemory(from: base, byteCount: $0.count) }
    }
    read = start + piece.count
    if read == size + message.bytes.count {
      length = Piece(2)
      message = Piece(0)
      read = nil
    }
    return piece.count
  }

  /// Reads until a message is complete. Returns a positive number then, and otherwise the result that c-ares expects of
  /// a system call.
  private func receiveMessage() -> Int {
    if !length.isWhole {
      let result = receive(&length)
      guard result > 0 else { return result }
      message = Piece(Int(length.bytes[0]) << 8 | Int(length.bytes[1]))
    }
    let result = receive(&message)
    guard result > 0 else { return result }
    guard NameMessage.isSound(message.bytes) else {
      // c-ares treats this as a broken connection.
      errno = EPROTO
      return -1
    }
    NameMessage.limitAnswers(of: &message.bytes)
    return 1
  }

  private func receive(_ piece: inout Piece) -> Int {
    while !piece.isWhole {
      let filled = piece.filled
      let received = piece.bytes.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled, 0)
      }
      guard received > 0 else { return received }
      piece.filled += received
    }
    return 1
  }
}

// MARK: - Callbacks of c-ares

extension NameSocket {
  static let functions = ares_socket_functions(
    asocket: { family, type, transport, data in NameChannel.open(data, family, type, transport) },
    aclose: { descriptor, data in NameChannel.close(data, descriptor) },
    aconnect: { descriptor, address, length, _ in connect(descriptor, address, length) },
    arecvfrom: { descriptor, buffer, count, _, from, length, data in
      guard let socket = NameChannel.socket(data, descriptor) else { return -1 }
      if socket.isStream { return socket.readStream(into: buffer, count) }
      return socket.readDatagram(into: buffer, count, from, length)
    },
    asendv: { descriptor, pieces, count, _ in writev(descriptor, pieces, count) }
  )
}
