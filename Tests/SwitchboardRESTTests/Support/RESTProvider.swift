import GoogleAPIMessages
import RESTService
import Switchboard
import SwitchboardProtobuf
import SwitchboardServices

/// Gives back what it is asked, so that a response says how its request was read.
struct RESTProvider: Testing_Rest_RestProvider {
  typealias Everything = Testing_Rest_Everything
  /// Whether what is created comes back.
  var returnsCreated = true
  var interceptors: Interceptors? { nil }

  /// Headers whose names start with `x-echo-` come back, as metadata or as trailers.
  private func echo(_ context: ServerCallContext) {
    var (headers, trailers) = (HPACKHeaders(), HPACKHeaders())
    for header in context.headers where header.name.hasPrefix("x-echo-") {
      if header.name == "x-echo-trailer" {
        trailers.add(name: header.name, value: header.value)
      } else {
        headers.add(name: header.name, value: header.value)
      }
    }
    context.setInitialMetadata(headers)
    context.setTrailers(trailers)
  }

  func get(request: Everything, context: ServerCallContext) async throws -> Everything {
    echo(context)
    // Until its deadline.
    if request.text == "hangs" { try await Task.sleep(for: .seconds(600)) }
    return Self.unwritable(request)
  }

  /// Has a time that JSON cannot express, if the request asks for it.
  private static func unwritable(_ request: Everything) -> Everything {
    var response = request
    if request.text == "unwritable" { response.time.seconds = .max }
    return response
  }

  func create(request: Everything, context: ServerCallContext) async throws -> Everything {
    returnsCreated ? request : Everything()
  }
  func createInner(request: Everything, context: ServerCallContext) async throws -> Everything { request }
  func patch(request: Everything, context: ServerCallContext) async throws -> Everything { request }
  func delete(request: Everything, context: ServerCallContext) async throws -> Google_Protobuf_Empty {
    .init()
  }
  func publish(request: Everything, context: ServerCallContext) async throws -> Everything { request }
  func custom(request: Everything, context: ServerCallContext) async throws -> Everything { request }
  func getInner(request: Everything, context: ServerCallContext) async throws -> Everything { request }

  func getFile(request: Everything, context: ServerCallContext) async throws -> Testing_Rest_Upload {
    .with {
      $0.name = "hidden"
      $0.file.contentType = "text/x-file"
      $0.file.data = Array(request.text.utf8)
    }
  }

  func watch(
    request: Everything,
    responseStream: ResponseStreamWriter<Everything>,
    context: ServerCallContext
  ) async throws {
    if request.text == "nothing" { return }
    if request.text == "refused" { throw GRPCStatus(code: .permissionDenied, message: "not you") }
    try await responseStream.send(Self.unwritable(request))
    if request.text == "fails" { throw GRPCStatus(code: .dataLoss, message: "lost it") }
    try await responseStream.send(request)
    try await responseStream.send(request)
  }

  func collect(requestStream: RequestStream<Everything>, context: ServerCallContext) async throws
    -> Everything
  {
    var result = Everything()
    for try await request in requestStream { result.texts.append(request.name) }
    return result
  }

  func download(request: Everything, context: ServerCallContext) async throws -> Google_Api_HttpBody {
    .with {
      $0.contentType = "text/plain"
      $0.data = Array("file \(request.text)".utf8)
    }
  }

  func uploadFile(request: Testing_Rest_Upload, context: ServerCallContext) async throws
    -> Google_Api_HttpBody
  {
    .with {
      $0.contentType = request.file.contentType
      $0.data = Array("\(request.name):\(request.note):".utf8) + request.file.data
    }
  }

  func raw(request: Google_Api_HttpBody, context: ServerCallContext) async throws -> Google_Api_HttpBody {
    request
  }

  func uploadStream(
    requestStream: RequestStream<Testing_Rest_Upload>,
    context: ServerCallContext
  ) async throws -> Testing_Rest_Upload {
    var whole = Testing_Rest_Upload()
    for try await piece in requestStream {
      if !piece.name.isEmpty { whole.name += piece.name }
      if !piece.file.contentType.isEmpty { whole.file.contentType = piece.file.contentType }
      whole.file.data += piece.file.data
    }
    return whole
  }

  func downloadStream(
    request: Everything,
    responseStream: ResponseStreamWriter<Google_Api_HttpBody>,
    context: ServerCallContext
  ) async throws {
    for piece in 1...3 {
      try await responseStream.send(
        .with {
          if piece == 1 { $0.contentType = "text/csv" }
          $0.data = Array("\(request.text) \(piece)\n".utf8)
        }
      )
    }
  }

  func fail(request: Testing_Rest_Failure, context: ServerCallContext) async throws -> Google_Protobuf_Empty {
    let code = GRPCStatus.Code(rawValue: Int(request.code)) ?? .unknown
    guard request.detailed else { throw GRPCStatus(code: code, message: request.message) }
    let info = Google_Rpc_ErrorInfo.with { $0.reason = "TEST" }
    guard request.message == "status" else {
      throw try GRPCStatus(code: code, message: request.message, details: info)
    }
    throw try GRPCStatus(
      code: code,
      message: request.message,
      details: info,
      Google_Rpc_Status.with { $0.code = 7 }
    )
  }

  func hidden(request: Everything, context: ServerCallContext) async throws -> Everything { request }
}
