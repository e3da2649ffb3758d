// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A listening socket. An accepted connection may be served on another loop, so this calls `accept` itself; libuv would
/// keep the connection on the listener's loop.
package final class Listener: @unchecked Sendable {
  // Sendable because after `init` everything here is touched only on the loop.
  package typealias Accepted =
    @Sendable (_ descriptor: Int32, _ kind: SocketAddress.Kind, _ peer: SocketAddress?) -> Void

  package let address: SocketAddress
  private let descriptor: Int32
  private let loop: Loop
  private let accepted: Accepted
  private let changed: @Sendable (SocketError?) -> Void
  private var poll: PollHandle?
  private var isClosed = false
  /// Resources were lacking, and connections may still wait for them.
  private var lacksResources = false
  private var pause = AcceptPause()

  /// The number of connections to accept per turn: few, because each costs as much as several calls.
  private static let batch = 8

  /// Calls `changed` once with an error when the listener cannot accept, and once with nil when it can again. It keeps
  /// trying in between. With `sharesPort`, others that share it may listen on the same address.
  package init(
    _ address: SocketAddress,
    sharesPort: Bool = false,
    on loop: Loop,
    accepted: @escaping Accepted,
    changed: @escaping @Sendable (SocketError?) -> Void = { _ in }
  ) throws(SocketError) {
    self.loop = loop
    self.accepted = accepted
    self.changed = changed
    descriptor = try ListeningSocket.open(address, sharesPort: sharesPort)
    self.address = ListeningSocket.name(of: descriptor) ?? address
  }

  // The loop may end before it closes the listener.
  deinit { closeDescriptor() }

  /// Returns `false` if the loop has ended and cannot accept connections.
  package func start() -> Bool {
    loop.add(.closure { self.open() })
  }

  /// Calls `closed` when nothing listens any more, so that others can.
  package func close(then closed: @escaping @Sendable () -> Void = {}) {
    loop.execute {
      self.closeOnLoop()
      closed()
    }
  }

  private func open() {
    guard !isClosed else { return }
    guard !loop.hasEnded else {
      closeDescriptor()
      return changed(SocketError(UV_ECANCELED.rawValue))
    }
    do {
      poll = try PollHandle(descriptor, on: loop) { _ in self.acceptWaiting() }
    } catch {
      closeDescriptor()
      return changed(error)
    }
    watch()
  }

  private func watch() {
    poll?.watch(for: .readable)
  }

  private func acceptWaiting() {
    if lacksResources, ProcessDescriptors.areScarce { return wait(for: .tooManyFiles) }
    for _ in 0..<Self.batch {
      var storage = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let accepted = withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          switchboard_accept(descriptor, address, &length)
        }
      }
      if accepted >= 0 {
        let isLast = ProcessDescriptors.isScarce(accepted)
        self.accepted(accepted, address.kind, ListeningSocket.address(in: storage, length))
        pause.accepted()
        if isLast { return wait(for: .tooManyFiles) }
      } else if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
        return wait(for: SocketError(errno: errno))
      } else if errno != EINTR && errno != ECONNABORTED {
        // No connection waits any more.
        if lacksResources { changed(nil) }
        lacksResources = false
        return
      }
    }
    if lacksResources { wait(for: .tooManyFiles) }
  }

  /// Called when resources are exhausted or scarce: tries again later.
  private func wait(for error: SocketError) {
    if !lacksResources { changed(error) }
    lacksResources = true
    poll?.watch(for: [])
    let timer = LoopTimer { [weak self] in
      guard let self, !isClosed else { return }
      watch()
      acceptWaiting()
    }
    loop.schedule(timer, after: pause.next())
  }

  private func closeOnLoop() {
    poll?.close()
    poll = nil
    closeDescriptor()
  }

  private func closeDescriptor() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
    if case .unix(let path) = address.kind { unlink(path) }
  }
}

/// The waits of a listener that lacks resources. They are short while it can accept something now and then: many of the
/// connections that wait may have been given up by their clients, so that each batch soon returns its descriptors.
struct AcceptPause {
  private static let shortest = Duration.milliseconds(1)
  private static let longest = Duration.milliseconds(100)

  private var current = shortest

  mutating func next() -> Duration {
    defer { current = min(current * 2, Self.longest) }
    return current
  }

  mutating func accepted() { current = Self.shortest }
}

extension SocketError {
  fileprivate static let tooManyFiles = SocketError(errno: EMFILE)
}
