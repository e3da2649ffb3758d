import Foundation
import Switchboard

// Parcels [PORT] [HOST]   serves until Ctrl-C or SIGTERM; couriers need the key in COURIER_KEY
do {
  try await serve(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("Parcels: \(GRPCStatus(describing: error))\n".utf8))
  exit(1)
}

func serve(_ words: [String]) async throws {
  let port = words.first ?? "50051"
  guard let number = Int(port) else {
    throw GRPCStatus(code: .invalidArgument, message: "\(port) is not a port")
  }
  guard let key = ProcessInfo.processInfo.environment["COURIER_KEY"], !key.isEmpty else {
    // Instead of letting everyone in.
    throw GRPCStatus(code: .failedPrecondition, message: "COURIER_KEY is not set, the key of couriers")
  }
  let backend = try Backend(courierKey: key)
  var options = backend.options
  options.tls = try certificate()
  let telemetry = try measurements()
  options.observer = telemetry?.observer()
  let server = try Server(providers: backend.providers, options: options)
  let address = try server.bind(host: words.dropFirst().first ?? "127.0.0.1", port: number)
  // Kubernetes kills a process 30 s after it has asked it to end.
  try await server.run(grace: .seconds(20)) {
    backend.becomeReady()
    print("listening on \(address)")
    fflush(nil)
  }
  // The last measurements, which are not exported yet.
  await telemetry?.shutDown()
}
