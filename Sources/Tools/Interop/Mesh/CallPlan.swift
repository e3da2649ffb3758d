import InteropService
import Switchboard

/// Which calls a client makes at each turn.
struct CallPlan: Sendable {
  struct Entry: Sendable {
    let kind: MeshCall
    var metadata: [(String, String)] = []
  }

  var entries: [Entry]
  /// How long a call may take.
  var timeout: Duration

  init(_ entries: [Entry], timeout: Duration) {
    self.entries = entries
    self.timeout = timeout
  }

  /// The plan that somebody asks for while the client runs. Without a timeout of its own, it has that of the command line.
  init(_ request: Grpc_Testing_ClientConfigureRequest, timeout: Duration) throws(GRPCStatus) {
    entries = []
    for type in request.types {
      guard let kind = MeshCall(type) else {
        throw GRPCStatus(code: .invalidArgument, message: "there is no type of calls \(type)")
      }
      guard !entries.contains(where: { $0.kind == kind }) else { continue }
      let metadata = request.metadata.filter { $0.type == type }.map { ($0.key, $0.value) }
      entries.append(Entry(kind: kind, metadata: metadata))
    }
    self.timeout = request.timeoutSec > 0 ? .seconds(request.timeoutSec) : timeout
  }
}

extension Arguments {
  /// The plan of the command line: `--rpc`, `--metadata` and the timeout.
  var callPlan: CallPlan {
    get throws(UsageError) {
      var entries: [CallPlan.Entry] = []
      for name in (string("rpc") ?? MeshCall.unary.method).split(separator: ",") {
        guard let kind = MeshCall(method: name) else {
          throw UsageError(description: "--rpc is EmptyCall, UnaryCall or both with a comma, not \(name)")
        }
        entries.append(CallPlan.Entry(kind: kind))
      }
      for (kind, field) in try callMetadata {
        for index in entries.indices where entries[index].kind == kind {
          entries[index].metadata.append(field)
        }
      }
      return CallPlan(entries, timeout: try callTimeout)
    }
  }

  /// `--metadata`: `EmptyCall:name:value,UnaryCall:name:value`; a call may have several pairs.
  private var callMetadata: [(MeshCall, (String, String))] {
    get throws(UsageError) {
      var fields: [(MeshCall, (String, String))] = []
      for part in (string("metadata") ?? "").split(separator: ",") {
        let words = part.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
        guard let first = words.first, let kind = MeshCall(method: first), words.count % 2 == 1 else {
          throw UsageError(
            description: "--metadata has the form EmptyCall:name:value,UnaryCall:name:value, not \(part)"
          )
        }
        for index in stride(from: 1, to: words.count, by: 2) {
          fields.append((kind, (words[index], words[index + 1])))
        }
      }
      return fields
    }
  }

  /// `--rpc_timeout`, such as `1m30s`, or `--rpc_timeout_sec`.
  private var callTimeout: Duration {
    get throws(UsageError) {
      guard let text = string("rpc_timeout") else { return .seconds(number("rpc_timeout_sec")) }
      guard let timeout = Duration(goSyntax: text), timeout > .zero else {
        throw UsageError(description: "--rpc_timeout is a time such as 20s, 500ms or 1m30s, not \(text)")
      }
      return timeout
    }
  }
}

extension Duration {
  /// A time as Go's flags have it: numbers with units. `nil` if it is none.
  fileprivate init?(goSyntax text: String) {
    let units: [String: Duration] = [
      "ns": .nanoseconds(1), "us": .microseconds(1), "ms": .milliseconds(1), "s": .seconds(1),
      "m": .seconds(60), "h": .seconds(3600),
    ]
    self = .zero
    var rest = text[...]
    while !rest.isEmpty {
      let number = rest.prefix { $0.isNumber || $0 == "." }
      let unit = rest.dropFirst(number.count).prefix { $0.isLetter }
      guard let count = Double(number), count < 1e6, let unitLength = units[String(unit)] else { return nil }
      self += unitLength * count
      rest = rest.dropFirst(number.count + unit.count)
    }
  }
}
