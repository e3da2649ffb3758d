/// The parsed command line, with the flags of every gRPC implementation's interoperability binaries.
struct Arguments: Sendable {
  enum Mode: String {
    case server
    case client
    /// The client of a mesh.
    case meshClient = "xds-client"
  }

  /// An invalid command line.
  struct UsageError: Error, CustomStringConvertible {
    let description: String
  }

  /// The values of the flags; a flag without a value is true.
  private var flags: [String: String]
  let mode: Mode?

  static let help = """
    The interoperability tests of gRPC.

    usage: Interop server --port=PORT [--use_tls=true]
           Interop client --server_port=PORT --test_case=CASE [--server_host=HOST] [--use_tls=true] ...
           Interop xds-client --server=TARGET [--stats_port=PORT] [--qps=N] [--rpc=CALLS] ...

    The server, which is also gRPC's xds-test-server:
      --host=HOST                    the numeric address to listen on (localhost)
      --port=PORT                    with 0, picks a free port and prints it
      --unix_socket=PATH             also listens there
      --maintenance_port=PORT        also listens there (0: nowhere else)
      --server_id=ID, --host_name_override=NAME  what it calls itself
      --secure_mode=BOOL             is refused: no control plane configures servers here (false)

    The client:
      --server_host=HOST             (localhost), or a target without a port, such as unix:/run/interop.sock
      --server_port=PORT
      --server_host_override=NAME    the name in the server's certificate, and the authority
      --test_case=CASE               one of the cases below
      --additional_metadata=K:V;...  sent with every call
      --default_service_account=A    the account of the tokens, for the token cases
      --oauth_scope=SCOPE            the scope of the token, for the token cases
      --soak_iterations=N            (10)
      --soak_max_failures=N          (0)
      --soak_per_iteration_max_acceptable_latency_ms=N  (1000)
      --soak_overall_timeout_seconds=N                  (10)
      --soak_request_size=N          (271828)
      --soak_response_size=N         (314159)

    The client of a mesh, which is gRPC's xds-test-client:
      --server=TARGET                such as xds:///greeter.example; GRPC_XDS_BOOTSTRAP says where the control plane is
      --host=HOST, --stats_port=PORT where it serves statistics (localhost, 8081); with 0, picks a free port and prints it
      --qps=N, --num_channels=N      turns of calls per second and channel (1), and channels (1)
      --rpc=CALLS                    EmptyCall, UnaryCall, or both with a comma (UnaryCall): the calls of a turn
      --metadata=CALL:K:V,...        sent with the calls of that name
      --rpc_timeout=TIME             such as 20s, or --rpc_timeout_sec=N (20)
      --print_response=BOOL          prints what becomes of each call (false)
      --fail_on_failed_rpc=BOOL      ends when a call fails after one has succeeded (false)
      --expect_status=STATUS         what counts as success (OK)
      --request_payload_size=N, --response_payload_size=N  of unary calls (0)
      --secure_mode=BOOL             secures connections as the control plane says, and uses plaintext where it says nothing
                                     (false: plaintext everywhere)

    All:
      --use_tls=BOOL                 (false)
      --service_account_key_file=F   a service account's JSON: the client signs tokens with it, and the
                                     server accepts them
      --use_test_ca=BOOL             trusts the test authority instead of the system's (false)
      --ca_file=FILE                 trusts this authority
      --tls_cert_file=FILE, --tls_key_file=FILE  uses this certificate (the server: instead of the test certificate)
      --help                         prints this

    Cases: \(TestCase.allCases.map(\.rawValue).joined(separator: ", "))
    """

  /// The flags with their default values. A Boolean flag needs no value.
  private static let strings: [String: String] = [
    "host": "localhost", "unix_socket": "", "server_host": "localhost", "server_host_override": "",
    "test_case": "",
    "additional_metadata": "", "service_account_key_file": "", "default_service_account": "",
    "oauth_scope": "",
    "ca_file": "", "tls_cert_file": "", "tls_key_file": "",
    "server": "", "rpc": "", "metadata": "", "rpc_timeout": "", "expect_status": "", "server_id": "",
    "host_name_override": "",
  ]
  private static let numbers: [String: String] = [
    "port": "0", "server_port": "0", "soak_iterations": "10", "soak_max_failures": "0",
    "soak_per_iteration_max_acceptable_latency_ms": "1000", "soak_overall_timeout_seconds": "10",
    "soak_request_size": "271828", "soak_response_size": "314159",
    "stats_port": "8081", "maintenance_port": "0", "qps": "1", "num_channels": "1", "rpc_timeout_sec": "20",
    "request_payload_size": "0", "response_payload_size": "0",
  ]
  private static let booleans: [String: String] = [
    "use_tls": "false", "use_test_ca": "false", "print_response": "false", "fail_on_failed_rpc": "false",
    "secure_mode": "false",
  ]

  init(_ words: [String]) throws(UsageError) {
    flags = Self.strings.merging(Self.numbers) { $1 }.merging(Self.booleans) { $1 }
    var words = words[...]
    if words.isEmpty || words.contains("--help") || words.contains("-h") {
      mode = nil
      return
    }
    guard let word = words.popFirst(), let mode = Mode(rawValue: word) else {
      throw UsageError(description: "expected server, client or xds-client")
    }
    self.mode = mode
    while let word = words.popFirst() { try take(word, &words) }
  }

  private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    guard word.hasPrefix("-") else { throw UsageError(description: "\(word) is not a flag") }
    let parts = word.drop { $0 == "-" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard flags[name] != nil else { throw UsageError(description: "unknown flag --\(name)") }
    var value = parts.count > 1 ? String(parts[1]) : nil
    if Self.booleans[name] != nil {
      // `--use_tls false` is as common as `--use_tls=false`, and `--use_tls` alone means true.
      if value == nil, let next = rest.first, ["true", "false"].contains(next) { value = rest.popFirst() }
      let text = (value ?? "true").lowercased()
      guard ["true", "false", "1", "0"].contains(text) else {
        throw UsageError(description: "--\(name) must be true or false, not \(text)")
      }
      flags[name] = text == "true" || text == "1" ? "true" : "false"
      return
    }
    guard let text = value ?? rest.popFirst() else {
      throw UsageError(description: "--\(name) needs a value")
    }
    if Self.numbers[name] != nil, Int(text).map({ $0 >= 0 }) != true {
      throw UsageError(description: "--\(name) must be a number, not \(text)")
    }
    flags[name] = text
  }

  /// The text of a flag; `nil` if it is empty.
  func string(_ name: String) -> String? {
    flags[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  func number(_ name: String) -> Int { flags[name].flatMap { Int($0) } ?? 0 }

  func isSet(_ name: String) -> Bool { flags[name] == "true" }

  /// `--test_case`.
  var testCase: TestCase {
    get throws(UsageError) {
      guard let name = string("test_case") else {
        throw UsageError(description: "a client needs --test_case")
      }
      guard let test = TestCase(rawValue: name) else {
        throw UsageError(description: "unknown test case \(name)")
      }
      return test
    }
  }

  /// `--additional_metadata`: pairs of a name and a value, `name:value;name:value`.
  var additionalMetadata: [(String, String)] {
    get throws(UsageError) {
      var pairs: [(String, String)] = []
      for pair in (string("additional_metadata") ?? "").split(separator: ";") {
        guard let colon = pair.firstIndex(of: ":"), colon != pair.startIndex else {
          throw UsageError(
            description: "--additional_metadata must have the form name:value;name:value, not \(pair)"
          )
        }
        pairs.append((String(pair[..<colon]), String(pair[pair.index(after: colon)...])))
      }
      return pairs
    }
  }
}
