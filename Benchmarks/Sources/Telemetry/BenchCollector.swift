import Foundation
import Switchboard

/// A collector, good or bad, over gRPC and HTTP at the same port, until the process is ended.
struct BenchCollector {
  enum Behavior: String {
    /// Takes everything, unread.
    case good
    /// Refuses everything with `UNAVAILABLE`, or 503.
    case refusing
    /// Accepts connections, and never reads or says anything.
    case silent
    /// Reads nothing, and says one byte each second.
    case slow
  }

  private let behavior: Behavior

  init(_ arguments: inout Arguments) throws {
    let name = try arguments.next("BEHAVIOUR")
    guard let behavior = Behavior(rawValue: name) else {
      throw Arguments.Misuse(text: "unknown behavior '\(name)'\n\(Benchmarks.usage)")
    }
    self.behavior = behavior
    try arguments.end()
  }

  /// Prints its port first.
  func run() async throws {
    switch behavior {
    case .good, .refusing:
      let server = try Server(providers: providers, options: options)
      announce(try server.bind(host: "127.0.0.1", port: 0).port)
      while true { try await Task.sleep(for: .seconds(60)) }
    case .silent, .slow: try serveNothing()
    }
  }

  private func announce(_ port: Int) {
    print(port)
    fflush(nil)  // a program that reads this through a pipe waits for it
  }

  private static let signals = [("trace", "Trace"), ("metrics", "Metrics"), ("logs", "Logs")]

  private struct Service: CallHandlerProvider {
    let serviceName: String
    let isGood: Bool

    var methodHandlers: [MethodHandler] {
      let method = Method(
        MethodDescriptor(service: serviceName, method: "Export", type: .unary),
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      )
      return [
        method.unaryHandler { [isGood] _, _ in
          guard isGood else { throw GRPCStatus(code: .unavailable, message: "not now") }
          return []
        }
      ]
    }
  }

  private var providers: [any CallHandlerProvider] {
    Self.signals.map { package, name in
      Service(
        serviceName: "opentelemetry.proto.collector.\(package).v1.\(name)Service",
        isGood: behavior == .good
      )
    }
  }

  private var options: ServerOptions {
    var options = ServerOptions()
    let status = behavior == .good ? 200 : 503
    options.pages = ["traces", "metrics", "logs"].map { name in
      HTTPPage("POST", "/v1/\(name)", bodyLimit: 16 * 1024 * 1024) { _ in HTTPPage.Response(status: status) }
    }
    return options
  }

  private func serveNothing() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 128) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    signal(SIGPIPE, SIG_IGN)
    announce(Int(UInt16(bigEndian: address.sin_port)))
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { continue }
      guard behavior == .slow else { continue }
      Thread.detachNewThread {
        // The beginning of a response that never ends, which HTTP/2 finds to be none.
        for byte in "HTTP/1.1 200 OK\r\nx-very-long: \(String(repeating: "x", count: 600))".utf8 {
          var byte = byte
          guard send(connection, &byte, 1, 0) == 1 else { break }
          sleep(1)
        }
        close(connection)
      }
    }
  }
}
