import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText

/// Queries a server's descriptors by `grpc.reflection.v1`, or by `v1alpha` if the server has only that.
///
/// Each query uses a separate stream that ends with the answer. Nothing in an answer is trusted: the number and the
/// size of files are limited, each file is requested once, and a ``Schema`` rejects contradictions.
package actor ReflectionClient {
  /// The server knows no such symbol.
  package struct UnknownSymbol: Error {
    package let name: String
  }

  private typealias Request = Grpc_Reflection_V1_ServerReflectionRequest
  private typealias Response = Grpc_Reflection_V1_ServerReflectionResponse
  private typealias Stream = AsyncBidirectionalStreamingCall<Request, Response>

  package nonisolated let server: any ReflectionPeer
  private let client: MethodClient
  /// The name of the reflection service that answered.
  private var service: String?
  /// The files that the server has sent, by name.
  private var files: [ExactText: Google_Protobuf_FileDescriptorProto] = [:]
  private var byteCount = 0
  /// The names of imports that no answer has contained yet.
  private var wanted: Set<ExactText> = []
  /// The names that were requested.
  private var requested: Set<ExactText> = []

  /// The most files: far more than any server needs, but few enough to process.
  package static let mostFiles = 10_000
  package static let mostBytes = 32 << 20
  /// The most queries on one stream.
  private static let queriesPerStream = 100

  /// How long to wait for an answer. Servers have these answers ready, so a later one is unlikely.
  private static let defaultTimeout = Duration.seconds(30)

  /// `deadline` is the user's time limit for each query.
  package init(_ server: any ReflectionPeer, _ channel: Channel, deadline: Duration? = nil) {
    self.server = server
    client = MethodClient(
      channel: channel,
      defaultCallOptions: CallOptions.with {
        $0.initialMetadata = server.metadata
        $0.timeout = deadline ?? Self.defaultTimeout
        // What the channel's has for all methods is meant for the calls that are made of the descriptors.
        $0.serviceConfig = try? ServiceConfig()
      }
    )
  }

  // MARK: Questions

  /// The full names of the server's services.
  package func services() async throws -> [String] {
    let answers = try await query([.with { $0.listServices = "*" }])
    let names = answers.flatMap { $0.listServicesResponse.service.map(\.name) }
    try checkLengths(of: names)
    return names
  }

  /// The files that declare symbols, and all that they import. It throws if the server does not know one of them.
  package func schema(of symbols: [String]) async throws -> Schema {
    if let unknown = try await fetch(symbols).first { throw UnknownSymbol(name: unknown) }
    return try await schema()
  }

  /// All files so far, and all that they import.
  package func schema() async throws -> Schema {
    try await fetchImports()
    return try Schema(files.values.sorted { $0.name.precedes($1.name) })
  }

  /// Requests the files that declare symbols. Returns the symbols that the server does not know.
  package func fetch(_ symbols: [String]) async throws -> [String] {
    var unknown: [String] = []
    for start in stride(from: 0, to: symbols.count, by: Self.queriesPerStream) {
      let names = symbols[start..<min(start + Self.queriesPerStream, symbols.count)]
      let answers = try await query(names.map { name in .with { $0.fileContainingSymbol = name } })
      for (name, answer) in zip(names, answers) {
        if case .errorResponse(let error)? = answer.messageResponse {
          guard error.errorCode == GRPCStatus.Code.notFound.rawValue else { throw refusal(error) }
          unknown.append(name)
        } else {
          try take(answer)
        }
      }
    }
    return unknown
  }

  /// Requests the missing imports, all of a round together.
  private func fetchImports() async throws {
    while !wanted.isEmpty {
      requested.formUnion(wanted)
      let missing = wanted.map(\.text).sorted { $0.precedes($1) }
      wanted = []
      guard requested.count <= Self.mostFiles else { throw tooMuch("more than \(Self.mostFiles) imports") }
      for start in stride(from: 0, to: missing.count, by: Self.queriesPerStream) {
        let names = missing[start..<min(start + Self.queriesPerStream, missing.count)]
        for answer in try await query(names.map { name in .with { $0.fileByFilename = name } }) {
          if case .fileDescriptorResponse? = answer.messageResponse { try take(answer) }
        }
      }
    }
    // Some servers omit the well-known types, which every compiler includes.
    let imports = Set(files.values.flatMap(\.dependency).map(ExactText.init))
    let missing = imports.subtracting(files.keys).map(\.text)
    let known = missing.filter { $0.begins(with: "google/protobuf/") }.sorted { $0.precedes($1) }
    guard !known.isEmpty else { return }
    for file in server.knownFiles(known) where files[file.name] == nil { files[file.name] = file }
  }

  private func take(_ answer: Grpc_Reflection_V1_ServerReflectionResponse) throws {
    for bytes in answer.fileDescriptorResponse.fileDescriptorProto {
      let file: Google_Protobuf_FileDescriptorProto
      do {
        file = try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes)
      } catch {
        throw failure(.data, "\(server.text) sent an invalid descriptor: \(error)")
      }
      try checkLengths(of: [file.name] + file.dependency)
      if let other = files[file.name] {
        guard other == file else {
          throw failure(.data, "\(server.text) sent two files that are called \(file.name) and differ")
        }
        continue
      }
      byteCount += bytes.count
      guard files.count < Self.mostFiles, byteCount <= Self.mostBytes else {
        throw tooMuch("more than \(Self.mostFiles) files or \(Self.mostBytes >> 20) MiB")
      }
      files[file.name] = file
      wanted.remove(ExactText(file.name))
      for name in file.dependency where files[name] == nil && !requested.contains(name) {
        _ = wanted.insert(name)
      }
    }
  }

  /// Throws if an answer is not one to this question, or has too much. `received` is what there is besides.
  private func check(_ answer: Response, to request: Request, _ received: inout Int) throws {
    switch answer.messageResponse {
    case .fileDescriptorResponse(let files)?:
      received += files.fileDescriptorProto.reduce(0) { $0 + $1.count }
      guard received <= Self.mostBytes else { throw tooMuch("more than \(Self.mostBytes >> 20) MiB") }
      if case .listServices? = request.messageRequest { break }
      return
    case .listServicesResponse?:
      if case .listServices? = request.messageRequest { return }
    case .errorResponse?: return
    case .allExtensionNumbersResponse?, nil: break
    }
    throw failure(.data, "\(server.text): the reflection service answers another question than was asked")
  }

  /// Names are looked up and compared, which can take time in proportion to the square of their length.
  private func checkLengths(of names: [String]) throws {
    guard names.allSatisfy({ $0.utf8.count <= DescriptorPool.longestName }) else {
      throw tooMuch("a name of more than \(DescriptorPool.longestName) bytes")
    }
  }

  private func failure(_ reason: SchemaFailure.Reason, _ text: String) -> any Error {
    server.error(for: SchemaFailure(reason, text))
  }

  private func tooMuch(_ what: String) -> any Error {
    failure(.data, "\(server.text) sent \(what) as descriptors")
  }

  private func refusal(_ error: Grpc_Reflection_V1_ErrorResponse) -> any Error {
    let code = GRPCStatus.Code(rawValue: Int(error.errorCode)) ?? .unknown
    return failure(
      .refusal(code == .ok ? .unknown : code),
      "\(server.text): the reflection service answers \(code.specName): \(error.errorMessage)"
    )
  }

  // MARK: Streams

  private static let names = [
    "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
  ]

  /// Sends requests and returns an answer for each.
  private func query(_ requests: [Grpc_Reflection_V1_ServerReflectionRequest]) async throws -> [Response] {
    if let service { return try await query(requests, of: service) }
    for name in Self.names {
      do {
        let answers = try await query(requests, of: name)
        service = name
        return answers
      } catch let status as GRPCStatus where server.lacksMethod(status) {
        continue
      }
    }
    throw failure(.noReflection, "\(server.text) has no reflection service, so its services are unknown")
  }

  private func query(
    _ requests: [Grpc_Reflection_V1_ServerReflectionRequest],
    of service: String
  ) async throws -> [Response] {
    let method = ProtobufMethod<
      Grpc_Reflection_V1_ServerReflectionRequest, Grpc_Reflection_V1_ServerReflectionResponse
    >(service, "ServerReflectionInfo", .bidirectionalStreaming)
    var answers: [Response] = []
    var received = byteCount
    do {
      for try await answer in client.call(method).bidirectionalStreaming(requests) {
        // Until all are there, the answers are kept: only what was asked for, and no more than is taken.
        try check(answer, to: requests[answers.count], &received)
        answers.append(answer)
        if answers.count == requests.count { break }
      }
    } catch let status as GRPCStatus where !server.lacksMethod(status) {
      throw failure(.call(status), "\(server.text): \(status)")
    }
    guard answers.count == requests.count else {
      throw failure(
        .refusal(.internalError),
        "\(server.text): the reflection service left questions unanswered"
      )
    }
    return answers
  }
}
