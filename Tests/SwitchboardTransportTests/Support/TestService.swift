import CallTestSupport
import SwitchboardCall
import TestSupport

/// The service that the tests call: raw bytes, all four kinds, and several ways to fail.
struct TestService: CallHandlerProvider {
  var serviceName: String { "test.Test" }

  static let get = MethodDescriptor(service: "test.Test", method: "Get", type: .unary)
  static let safe = MethodDescriptor(
    service: "test.Test",
    method: "Safe",
    type: .unary,
    idempotency: .noSideEffects
  )
  static let fail = MethodDescriptor(service: "test.Test", method: "Fail", type: .unary)
  static let reflect = MethodDescriptor(service: "test.Test", method: "Reflect", type: .unary)
  static let hang = MethodDescriptor(service: "test.Test", method: "Hang", type: .unary)
  static let identify = MethodDescriptor(service: "test.Test", method: "Identify", type: .unary)
  static let compressed = MethodDescriptor(
    service: "test.Test",
    method: "Compressed",
    type: .bidirectionalStreaming
  )
  static let selective = MethodDescriptor(
    service: "test.Test",
    method: "Selective",
    type: .bidirectionalStreaming
  )
  static let greet = MethodDescriptor(service: "test.Test", method: "Greet", type: .bidirectionalStreaming)
  static let greetOnce = MethodDescriptor(service: "test.Test", method: "GreetOnce", type: .unary)
  static let greetThroughInterceptors = MethodDescriptor(
    service: "test.Test",
    method: "GreetThroughInterceptors",
    type: .unary
  )
  static let sleep = MethodDescriptor(service: "test.Test", method: "Sleep", type: .clientStreaming)
  static let sleepAndCollect = MethodDescriptor(
    service: "test.Test",
    method: "SleepAndCollect",
    type: .clientStreaming
  )
  static let stubborn = MethodDescriptor(service: "test.Test", method: "Stubborn", type: .unary)
  static let named = MethodDescriptor(service: "test.Test", method: "Named", type: .unary)
  static let missing = MethodDescriptor(service: "test.Test", method: "Missing", type: .unary)
  static let expand = MethodDescriptor(service: "test.Test", method: "Expand", type: .serverStreaming)
  static let flood = MethodDescriptor(service: "test.Test", method: "Flood", type: .serverStreaming)
  static let collect = MethodDescriptor(service: "test.Test", method: "Collect", type: .clientStreaming)
  static let deaf = MethodDescriptor(service: "test.Test", method: "Deaf", type: .clientStreaming)
  static let ignore = MethodDescriptor(service: "test.Test", method: "Ignore", type: .clientStreaming)
  static let update = MethodDescriptor(service: "test.Test", method: "Update", type: .bidirectionalStreaming)

  /// Fires when a call of `Hang` has reached its handler.
  let hanging = Signal()
  /// Ends calls of `Hang`; also fires when one is cancelled.
  let cancelled = Signal()
  let flooded = Counter()
  let floodMessages = Counter()
  /// The number of calls of `Stubborn` that have started; they continue until they are released, even if cancelled.
  let stubborn = Counter()
  let released = Signal()

  var methodHandlers: [MethodHandler] {
    return [
      Self.get.bytes.unaryHandler { request, _ in request },
      Method(Self.named, requests: BytesMarshaller("named"), responses: BytesMarshaller("named")).unaryHandler
      {
        request,
        _ in
        request
      },
      Self.safe.bytes.unaryHandler { request, context in
        context.setCompression(.gzip)
        return request
      },
      Self.compressed.bytes.bidirectionalStreamingHandler {
        requests,
        responses,
        context in
        context.setCompression(.gzip)
        for try await request in requests { try await responses.send(request) }
      },
      Self.fail.bytes.unaryHandler { request, context in
        context.setTrailers(["why": "asked to"])
        throw GRPCStatus(code: .failedPrecondition, message: String(decoding: request, as: UTF8.self))
      },
      Self.reflect.bytes.unaryHandler { _, context in
        var mirrored = HPACKHeaders()
        for name in ["one", "two-bin"] {
          for value in context.headers[name] { mirrored.add(name: name, value: value) }
        }
        context.setInitialMetadata(mirrored)
        context.setTrailers(mirrored)
        return Array((context.peer.address + " \(context.deadline != nil)").utf8)
      },
      Self.identify.bytes.unaryHandler { _, context in
        let certificate = context.peer.certificate
        let names = certificate?.alternativeNames.map { "\($0)" }.joined(separator: " ") ?? ""
        return Array("\(certificate?.subject ?? "nobody") \(names)\n\(certificate?.pem ?? "")".utf8)
      },
      Self.hang.bytes.unaryHandler { [hanging, cancelled] request, _ in
        hanging.fire()
        await withTaskCancellationHandler {
          await cancelled.wait()
        } onCancel: {
          cancelled.fire()
        }
        return request
      },
      // Compresses the responses to messages that start with a one.
      Self.selective.bytes.bidirectionalStreamingHandler {
        requests,
        responses,
        context in
        context.setCompression(.gzip)
        for try await request in requests {
          let isChosen = request.first == 1
          try await responses.send(request, compress: isChosen, flush: isChosen)
        }
      },
      Self.greet.bytes.bidirectionalStreamingHandler {
        requests,
        responses,
        context in
        context.setInitialMetadata(["one": "1"])
        context.sendInitialMetadata()
        for try await request in requests { try await responses.send(request) }
      },
      Self.greetOnce.bytes.unaryHandler { [released] request, context in
        context.setInitialMetadata(["one": "1"])
        context.sendInitialMetadata()
        await released.wait()
        return request
      },
      Self.greetThroughInterceptors.bytes.unaryHandler(
        interceptors: { [ServerInterceptor<[UInt8], [UInt8]>()] },
        { [released] request, context in
          context.setInitialMetadata(["one": "1"])
          context.sendInitialMetadata()
          await released.wait()
          return request
        }
      ),
      // Reads nothing until it is released or the call ends.
      Self.sleep.bytes.clientStreamingHandler { [released] requests, _ in
        await withTaskCancellationHandler {
          await released.wait()
        } onCancel: {
          released.fire()
        }
        var count: [UInt8] = [0]
        for try await _ in requests { count[0] &+= 1 }
        return count
      },
      Self.sleepAndCollect.bytes.clientStreamingHandler {
        [released] requests, _ in
        await released.wait()
        var all: [UInt8] = []
        for try await request in requests { all += request }
        return all
      },
      Self.stubborn.bytes.unaryHandler { [stubborn, released] request, _ in
        stubborn.add(1)
        await released.wait()
        return request
      },
      Self.expand.bytes.serverStreamingHandler { request, responses, _ in
        for byte in request { try await responses.send([byte]) }
      },
      // A request of one byte sets the size of the messages.
      Self.flood.bytes.serverStreamingHandler {
        [flooded, floodMessages] request, responses, _ in
        let message = [UInt8](repeating: 0, count: request.first.map(Int.init) ?? 10_000)
        while true {
          try await responses.send(message)
          flooded.add(message.count)
          floodMessages.add(1)
        }
      },
      Self.collect.bytes.clientStreamingHandler { requests, _ in
        var all: [UInt8] = []
        for try await request in requests { all += request }
        return all
      },
      // Reads nothing until it is cancelled.
      Self.deaf.bytes.clientStreamingHandler { _, _ in
        let cancelled = Signal()
        await withTaskCancellationHandler {
          await cancelled.wait()
        } onCancel: {
          cancelled.fire()
        }
        return []
      },
      Self.ignore.bytes.clientStreamingHandler { _, _ in
        throw GRPCStatus(code: .resourceExhausted, message: "enough")
      },
      Self.update.bytes.bidirectionalStreamingHandler {
        requests,
        responses,
        _ in
        for try await request in requests { try await responses.send(request) }
      },
    ]
  }
}
