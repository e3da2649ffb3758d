import Glibc
import Switchboard

/// gRPC's interoperability tests, as a server and as a client.
@main
struct Interop {
  static func main() async {
    // If a pipe that reads the output is closed, the program keeps running.
    signal(SIGPIPE, SIG_IGN)
    do {
      let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
      switch arguments.mode {
      case nil: print(Arguments.help)
      case .server: try await serve(arguments)
      case .client: exit(try await call(arguments) ? 0 : 1)
      case .meshClient: try await callSteadily(arguments)
      }
    } catch let error as Arguments.UsageError {
      StandardError.complain("\(error)\nTry: Interop --help")
      exit(64)
    } catch {
      StandardError.complain("\(GRPCStatus(describing: error))")
      exit(1)
    }
  }

  private static func serve(_ arguments: Arguments) async throws {
    let server = try InteropServer(arguments)
    let addresses = server.addresses
    try await server.run {
      for address in addresses { print("listening on \(address)") }
      // A program that reads this through a pipe waits for it.
      fflush(nil)
    }
  }

  private static func callSteadily(_ arguments: Arguments) async throws {
    let client = try MeshClient(arguments)
    try await client.run {
      print("listening on \(client.address)")
      fflush(nil)
    }
  }

  /// Runs a case and returns whether it passed.
  private static func call(_ arguments: Arguments) async throws -> Bool {
    let test = try arguments.testCase
    let client = try InteropClient(arguments)
    let isFine: Bool
    do {
      let remark = try await client.run(test)
      print("\(test.rawValue): passed" + (remark.map { " (\($0))" } ?? ""))
      isFine = true
    } catch let error as Arguments.UsageError {
      throw error
    } catch {
      StandardError.complain("\(test.rawValue): failed: \(error)")
      isFine = false
    }
    await client.shutDown()
    guard fflush(nil) == 0 else {
      throw GRPCStatus(code: .dataLoss, message: "cannot print the result")
    }
    return isFine
  }
}
