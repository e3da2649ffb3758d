// text: the names of the program's own files

import Switchboard
import SwitchboardServiceMessages

/// The answers on one stream; a file is sent on it only once as an import.
struct ReflectionAnswers {
  let index: DescriptorIndex
  private var sent: Set<String> = []

  init(index: DescriptorIndex) {
    self.index = index
  }

  mutating func answer(
    _ request: Grpc_Reflection_V1_ServerReflectionRequest
  ) -> Grpc_Reflection_V1_ServerReflectionResponse {
    var response = Grpc_Reflection_V1_ServerReflectionResponse()
    response.validHost = request.host
    response.originalRequest = request
    switch request.messageRequest {
    case .listServices:
      response.listServicesResponse.service = index.services.map { name in .with { $0.name = name } }
    case .fileByFilename(let name):
      answer(with: index.files[name] == nil ? nil : name, "file \"\(name)\"", &response)
    case .fileContainingSymbol(let symbol):
      answer(with: index.file(declaring: symbol), "symbol \"\(symbol)\"", &response)
    case .fileContainingExtension(let wanted):
      let type = DescriptorIndex.withoutDot(wanted.containingType)
      let file = index.extensions[type]?[wanted.extensionNumber]
      answer(with: file, "extension \(wanted.extensionNumber) of \"\(type)\"", &response)
    case .allExtensionNumbersOfType(let wanted):
      let type = DescriptorIndex.withoutDot(wanted)
      guard index.messages.contains(type) else {
        response.errorResponse = .notFound("message \"\(type)\"")
        break
      }
      response.allExtensionNumbersResponse = .with {
        $0.baseTypeName = type
        $0.extensionNumber = (index.extensions[type] ?? [:]).keys.sorted()
      }
    case nil:
      response.errorResponse = Grpc_Reflection_V1_ErrorResponse(
        .invalidArgument,
        "unknown kind of request"
      )
    }
    return response
  }

  /// Answers with a file and all its imports, or with an error.
  private mutating func answer(
    with file: String?,
    _ wanted: String,
    _ response: inout Grpc_Reflection_V1_ServerReflectionResponse
  ) {
    guard let file else {
      response.errorResponse = .notFound(wanted)
      return
    }
    let names = index.filesReached(from: file).filter { $0 == file || !sent.contains($0) }
    sent.formUnion(names)
    response.fileDescriptorResponse.fileDescriptorProto = names.compactMap { index.files[$0]?.bytes }
  }
}

extension Grpc_Reflection_V1_ErrorResponse {
  fileprivate init(_ code: GRPCStatus.Code, _ message: String) {
    self.init()
    errorCode = Int32(code.rawValue)
    errorMessage = message
  }

  fileprivate static func notFound(_ wanted: String) -> Grpc_Reflection_V1_ErrorResponse {
    Grpc_Reflection_V1_ErrorResponse(.notFound, "unknown \(wanted)")
  }
}
