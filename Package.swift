// swift-tools-version: 6.3
import PackageDescription

/// What the generator is expected to write, a module for each case: compiled because its tests depend on it.
let goldenCases = [
  "Accessors", "Comments", "Editions", "Editions2024", "Extensions", "HugeEnum", "Mappings/base",
  "Mappings/user", "Maps", "Names",
  "Oneofs", "Options", "Prefixes", "Proto2", "Proto3", "Recursion", "SameFileNames", "ServiceMethods",
  "ServiceNames",
  "ServicesCasing", "ServicesClient",
  "ServicesMappings/base", "ServicesMappings/user", "ServicesPayloads", "ServicesServer",
  "ServicesTestClient", "ServicesTestClientOf", "Shadowing",
]

func golden(_ name: String) -> Target {
  let parts: [String] = name.split(separator: "/").map(String.init)
  let module: String = "Golden" + parts.map(\.capitalizedFirst).joined()
  let folder: String = ([parts[0], "expected"] + parts.dropFirst()).joined(separator: "/")
  var dependencies: [Target.Dependency] = ["SwitchboardProtobuf", "SwitchboardDescriptors"]
  if parts[0].hasPrefix("Service") { dependencies.append("Switchboard") }
  if parts[0].hasPrefix("ServicesTestClient") { dependencies.append("SwitchboardTesting") }
  if parts[0] == "ServicesTestClientOf" { dependencies.append("GoldenServicesClient") }
  if parts.last == "user" { dependencies.append(.target(name: "Golden\(parts[0])Base")) }
  return .target(
    name: module,
    dependencies: dependencies,
    path: "Tests/SwitchboardGeneratorTests/Goldens/\(folder)"
  )
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

let goldens: [Target] = goldenCases.map(golden)

/// A bridge to a package of others, in which there is something only where its trait is on.
func bridge(
  _ name: String,
  trait: String,
  to dependencies: [Target.Dependency],
  _ product: String,
  of package: String
) -> Target {
  .target(
    name: name,
    dependencies: dependencies + [
      .product(name: product, package: package, condition: .when(traits: [trait]))
    ]
  )
}

let bridgeTargets: [Target] = [
  // Messages that SwiftProtobuf generated, under the same stubs.
  bridge(
    "SwitchboardSwiftProtobuf",
    trait: "SwiftProtobuf",
    to: ["SwitchboardCall"],
    "SwiftProtobuf",
    of: "swift-protobuf"
  ),
  bridge(
    "SwitchboardSwiftLog",
    trait: "SwiftLog",
    to: ["SwitchboardCall"],
    "Logging",
    of: "swift-log"
  ),
  bridge(
    "SwitchboardSwiftMetrics",
    trait: "SwiftMetrics",
    to: ["SwitchboardTelemetry"],
    "CoreMetrics",
    of: "swift-metrics"
  ),
  bridge(
    "SwitchboardSwiftTracing",
    trait: "SwiftTracing",
    to: ["SwitchboardTelemetry"],
    "Tracing",
    of: "swift-distributed-tracing"
  ),
  bridge(
    "SwitchboardServiceLifecycle",
    trait: "ServiceLifecycle",
    to: ["Switchboard"],
    "ServiceLifecycle",
    of: "swift-service-lifecycle"
  ),
  // The tests compile the same sources over the packages' signatures, since nothing is fetched here.
  .target(name: "BridgeStandIns", path: "Tests/BridgeStandIns"),
  .testTarget(
    name: "BridgeTests",
    dependencies: [
      "BridgeStandIns", "EchoService", "EchoTestSupport", "Switchboard", "SwitchboardCall",
      "SwitchboardTelemetry",
    ],
    swiftSettings: ["BridgeStandIns", "SwiftLog", "SwiftMetrics", "SwiftTracing", "ServiceLifecycle"]
      .map { .define($0) }
  ),
]

/// The code that reads bytes from outside, for the fuzzer where the environment asks for it (`scripts/test/fuzz`), and else for
/// the tests that replay its corpus. Both import what is internal, so neither is a library.
let fuzzing: Target = {
  let dependencies: [Target.Dependency] = [
    "CallTestSupport", "CAres", "CertificateSupport", "LoadMessages", "RESTService", "Switchboard",
    "SwitchboardBalancing", "SwitchboardCall", "SwitchboardCommand", "SwitchboardDescriptors",
    "SwitchboardDynamic", "SwitchboardGenerator", "SwitchboardHTTPRules", "SwitchboardNetwork",
    "SwitchboardTransport", "SwitchboardLoad",
    "SwitchboardMock", "SwitchboardOpenAPI",
    "SwitchboardPatterns", "SwitchboardProtobuf", "SwitchboardREST", "SwitchboardServices",
    "SwitchboardTelemetry", "SwitchboardText", "SwitchboardXDS", "TestMessages", "TLSSupport",
  ]
  if Context.environment["SWITCHBOARD_FUZZ"] == "1" {
    return .executableTarget(
      name: "Fuzzer",
      dependencies: dependencies,
      path: "Fuzz",
      exclude: ["Corpus", "Tests"]
    )
  }
  return .testTarget(
    name: "FuzzTests",
    dependencies: dependencies + ["TestSupport"],
    path: "Fuzz",
    exclude: ["Corpus", "Driver"]
  )
}()

/// Random lives of connections against models of calls: a program where the environment asks for it
/// (`scripts/test/states`), which is built for release, and else a test of a few.
let states: Target = {
  let dependencies: [Target.Dependency] = [
    "CNghttp2", "CallTestSupport", "SwitchboardBalancing", "SwitchboardCall", "SwitchboardCallObjects",
    "SwitchboardNetwork", "SwitchboardTransport",
  ]
  if Context.environment["SWITCHBOARD_STATES"] == "1" {
    return .executableTarget(
      name: "StateCheck",
      dependencies: dependencies,
      path: "Tests/StateTests",
      exclude: ["Tests"]
    )
  }
  return .testTarget(
    name: "StateTests",
    dependencies: dependencies + ["TestSupport"],
    path: "Tests/StateTests",
    exclude: ["Driver"]
  )
}()

/// What `Switchboard` exports. The package manager builds a target again only if a module changes that the target itself
/// depends on. So all that depend on `Switchboard` also depend on these, whose code is inlined into them: otherwise old
/// code would use objects that have a new layout.
let exported = [
  "SwitchboardBalancing", "SwitchboardCall", "SwitchboardCallObjects", "SwitchboardNetwork",
  "SwitchboardTransport",
  "SwitchboardMarshalling",
]

/// The groups of modules under Sources/, which its first listing shows: docs/Architecture.md describes them.
let groups: [String: [String]] = [
  "Core": [
    "Switchboard", "SwitchboardCall", "SwitchboardCallObjects", "SwitchboardInterceptors",
    "SwitchboardMarshalling", "SwitchboardPatterns", "SwitchboardTesting", "SwitchboardText",
  ],
  "Messages": ["SwitchboardDescriptors", "SwitchboardProtobuf", "SwitchboardSchema"],
  "Network": ["SwitchboardNetwork"],
  "Transport": ["SwitchboardTransport"],
  "Dialects": ["SwitchboardHTTPRules", "SwitchboardOpenAPI", "SwitchboardREST"],
  "Balancing": ["SwitchboardBalancing"],
  "Services": ["SwitchboardDynamic", "SwitchboardServices"],
  "Telemetry": ["SwitchboardTelemetry"],
  "Console": ["SwitchboardConsole"],
  "Mesh": ["SwitchboardXDS"],
  "Bridges": [
    "SwitchboardServiceLifecycle", "SwitchboardSwiftLog", "SwitchboardSwiftMetrics",
    "SwitchboardSwiftProtobuf", "SwitchboardSwiftTracing",
  ],
  "Tools": [
    "Echo", "Interop", "SwitchboardCommand", "SwitchboardGenerateArguments", "SwitchboardGenerateVerb",
    "SwitchboardGenerator", "SwitchboardLoad", "SwitchboardMigration", "SwitchboardMock",
    "SwitchboardProtoCompiler", "SwitchboardTool",
    "SwitchboardToolSupport", "protoc-gen-switchboard", "switchboard-generate",
  ],
  "C": [
    "CAres", "CBrotli", "CLibuv", "CLoopThread", "CNghttp2", "COpenSSL", "CProtoc", "CRE2", "CTLSMemory",
    "CTicks", "CZlib", "CZstd",
  ],
]

let package = Package(
  name: "switchboard",
  platforms: [.macOS("26.0")],
  products: [
    // What users with services depend on. Those who have only messages need only SwitchboardProtobuf.
    .library(name: "Switchboard", targets: ["Switchboard"] + exported + ["SwitchboardProtobuf"]),
    // Responses that tests enqueue, for generated test clients.
    .library(name: "SwitchboardTesting", targets: ["SwitchboardTesting"]),
    // Health, reflection, channelz, load reports and errors with details.
    .library(name: "SwitchboardServices", targets: ["SwitchboardServices", "SwitchboardServiceMessages"]),
    // Metrics, traces, logs, and context that travels with calls.
    .library(name: "SwitchboardTelemetry", targets: ["SwitchboardTelemetry"]),
    // A page that shows what servers and channels do.
    .library(name: "SwitchboardConsole", targets: ["SwitchboardConsole"]),
    // Channels that a control plane configures.
    .library(name: "SwitchboardXDS", targets: ["SwitchboardXDS"]),
    // REST by `google.api.http`, and OpenAPI documents.
    .library(
      name: "SwitchboardREST",
      targets: ["SwitchboardREST", "SwitchboardOpenAPI", "GoogleAPIMessages"]
    ),
    .plugin(name: "SwitchboardPlugin", targets: ["SwitchboardPlugin"]),
    .plugin(name: "SwitchboardCommandPlugin", targets: ["SwitchboardCommandPlugin"]),
    .executable(name: "switchboard", targets: ["SwitchboardTool"]),
    // The part of it that builds run.
    .executable(name: "switchboard-generate", targets: ["switchboard-generate"]),
    .executable(name: "protoc-gen-switchboard", targets: ["protoc-gen-switchboard"]),

    // Parts of it, for those who need no more.
    .library(name: "SwitchboardProtobuf", targets: ["SwitchboardProtobuf"]),
    // Also what targets need whose `.proto` files import google/protobuf/descriptor.proto.
    .library(name: "SwitchboardDescriptors", targets: ["SwitchboardDescriptors"]),
    .library(name: "SwitchboardCall", targets: ["SwitchboardCall", "SwitchboardCallObjects"]),
    .library(name: "SwitchboardBalancing", targets: ["SwitchboardBalancing"]),
    .library(name: "SwitchboardMarshalling", targets: ["SwitchboardMarshalling"]),
    .library(name: "SwitchboardTransport", targets: ["SwitchboardTransport"]),
    .library(name: "SwitchboardInterceptors", targets: ["SwitchboardInterceptors"]),
    .library(name: "SwitchboardGenerator", targets: ["SwitchboardGenerator"]),
    .executable(name: "Echo", targets: ["Echo"]),
    // gRPC's interoperability tests: a server and a client of them.
    .executable(name: "Interop", targets: ["Interop"]),

    // Bridges to packages of others, each of which is empty unless its trait is on.
    .library(name: "SwitchboardSwiftProtobuf", targets: ["SwitchboardSwiftProtobuf"]),
    .library(name: "SwitchboardSwiftLog", targets: ["SwitchboardSwiftLog"]),
    .library(name: "SwitchboardSwiftMetrics", targets: ["SwitchboardSwiftMetrics"]),
    .library(name: "SwitchboardSwiftTracing", targets: ["SwitchboardSwiftTracing"]),
    .library(name: "SwitchboardServiceLifecycle", targets: ["SwitchboardServiceLifecycle"]),
  ],
  traits: [
    .trait(name: "SwiftProtobuf", description: "Messages of SwiftProtobuf (SwitchboardSwiftProtobuf)"),
    .trait(name: "SwiftLog", description: "Logs from and to swift-log (SwitchboardSwiftLog)"),
    .trait(name: "SwiftMetrics", description: "Metrics of swift-metrics (SwitchboardSwiftMetrics)"),
    .trait(name: "SwiftTracing", description: "Spans of swift-distributed-tracing (SwitchboardSwiftTracing)"),
    .trait(name: "ServiceLifecycle", description: "Servers in a ServiceGroup (SwitchboardServiceLifecycle)"),
  ],
  // Nothing is fetched while the traits are off.
  dependencies: [
    .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.28.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.12.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.4.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.1.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.3.0"),
  ],
  targets: [
    // Text from outside by its bytes, for all modules that read any.
    .target(name: "SwitchboardText"),
    .testTarget(name: "SwitchboardTextTests", dependencies: ["SwitchboardText", "TestSupport"]),

    // Regular expressions from the network: C++ inside, a few C functions outside, and their face in Swift. Only those who
    // depend on it link RE2.
    .target(name: "CRE2", linkerSettings: [.linkedLibrary("re2")]),
    .target(name: "SwitchboardPatterns", dependencies: ["CRE2", "SwitchboardText"]),
    .testTarget(
      name: "SwitchboardPatternsTests",
      dependencies: ["CallTestSupport", "SwitchboardPatterns", "TestSupport"]
    ),

    // The message runtime: no dependency from outside but the standard library.
    .target(name: "SwitchboardProtobuf", dependencies: ["SwitchboardSchema", "SwitchboardText"]),
    // What the message runtime and the generator must decide alike.
    .target(name: "SwitchboardSchema", dependencies: ["SwitchboardText"]),
    .testTarget(
      name: "SwitchboardProtobufTests",
      dependencies: [
        "CCosts", "ReferenceSupport", "SwitchboardDescriptors", "SwitchboardProtoCompiler",
        "SwitchboardProtobuf",
        "TestMessages", "TestSupport",
      ]
    ),

    .target(name: "CLoopThread"),
    // The call model: knows neither sockets nor protobuf.
    .target(name: "SwitchboardCall", dependencies: ["CLoopThread", "SwitchboardText"]),
    .testTarget(
      name: "SwitchboardCallTests",
      dependencies: ["SwitchboardCall", "SwitchboardCallObjects", "CallTestSupport"]
    ),

    // Many servers behind a name: resolvers, policies, pickers. Knows neither sockets nor protobuf.
    .target(name: "SwitchboardBalancing", dependencies: ["SwitchboardCall", "SwitchboardText"]),
    .testTarget(
      name: "SwitchboardBalancingTests",
      dependencies: ["SwitchboardBalancing", "SwitchboardCall", "CallTestSupport", "TestSupport"]
    ),

    // What connections stand on: event loop and sockets, TLS, names, proxies. Knows neither HTTP nor calls.
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .target(name: "CTLSMemory"),
    .systemLibrary(name: "CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .target(
      name: "SwitchboardNetwork",
      dependencies: [
        "CAres", "CLibuv", "COpenSSL", "CTLSMemory", "SwitchboardBalancing", "SwitchboardCall",
        "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardNetworkTests",
      dependencies: [
        "CallTestSupport", "CertificateSupport", "HTTP2TestSupport", "SwitchboardBalancing",
        "SwitchboardCall", "SwitchboardNetwork", "TLSSupport", "TestSupport",
      ]
    ),

    // Calls on connections: HTTP/2, HTTP/1.1, client and server transports, and none but memory within a process.
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"])]),
    .target(
      name: "SwitchboardTransport",
      dependencies: [
        "CBrotli", "CNghttp2", "CZlib", "CZstd", "SwitchboardBalancing", "SwitchboardCall",
        "SwitchboardNetwork", "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardTransportTests",
      dependencies: [
        "ServerTestSupport",
        "CallTestSupport", "CertificateSupport", "CTLSMemoryChosen", "HTTP2TestSupport",
        "SwitchboardBalancing", "SwitchboardCall", "SwitchboardCallObjects", "SwitchboardNetwork",
        "SwitchboardTransport", "TLSSupport", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // Generated code that is checked in: `scripts/generate` writes it.
    .target(
      name: "SwitchboardDescriptors",
      dependencies: ["SwitchboardProtobuf", "SwitchboardSchema", "SwitchboardText"]
    ),
    .target(name: "CodecMessages", dependencies: ["SwitchboardProtobuf"], path: "Generated/CodecMessages"),
    .target(
      name: "KindsService",
      dependencies: ["GoogleAPIMessages", "Switchboard", "SwitchboardProtobuf", "TestMessages"],
      path: "Generated/KindsService"
    ),
    .target(name: "TestMessages", dependencies: ["SwitchboardProtobuf"], path: "Generated/TestMessages"),

    // The program that protobuf's conformance suite tests: `scripts/interop/conformance` runs it.
    .target(
      name: "ConformanceMessages",
      dependencies: ["SwitchboardProtobuf"],
      path: "Generated/ConformanceMessages"
    ),
    .executableTarget(
      name: "ConformanceTestee",
      dependencies: [
        "ConformanceMessages", "SwitchboardDescriptors", "SwitchboardProtobuf", "SwitchboardToolSupport",
      ],
      path: "Tests/ConformanceTestee"
    ),
    .testTarget(name: "ConformanceTesteeTests", dependencies: ["ConformanceTestee", "ConformanceMessages"]),

    // The program that Connect's conformance suite tests, as a server and as a client.
    .target(
      name: "ConnectConformanceService",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/ConnectConformanceService"
    ),
    .executableTarget(
      name: "ConnectTestee",
      dependencies: [
        "ConnectConformanceService", "Switchboard", "SwitchboardProtobuf", "SwitchboardServices",
        "SwitchboardToolSupport",
      ],
      path: "Tests/ConnectTestee"
    ),
    .testTarget(
      name: "ConnectTesteeTests",
      dependencies: ["ConnectConformanceService", "ConnectTestee", "Switchboard", "SwitchboardProtobuf"]
    ),

    // The generator: descriptors in, Swift source out. Every user's first build compiles it alone, to plan the build, so
    // it does without the message runtime, which takes longer to compile than all that the plugin runs.
    .target(
      name: "SwitchboardGenerator",
      dependencies: ["SwitchboardHTTPRules", "SwitchboardSchema", "SwitchboardText"]
    ),
    .testTarget(
      name: "SwitchboardGeneratorTests",
      dependencies: [
        "SwitchboardDescriptors", "SwitchboardGenerator", "SwitchboardProtoCompiler", "SwitchboardProtobuf",
      ]
        + goldens.map { Target.Dependency.target(name: $0.name) },
      exclude: ["Goldens"]
    ),

    // Messages into bytes and back, between the last interceptor and the transport.
    .target(
      name: "SwitchboardMarshalling",
      dependencies: ["SwitchboardCall", "SwitchboardProtobuf", "SwitchboardText"]
    ),

    // Calls whose responses go to a handler on a dispatch queue.
    .target(name: "SwitchboardCallObjects", dependencies: ["SwitchboardCall"]),

    // Interceptors for common needs, for those who want them.
    .target(name: "SwitchboardInterceptors", dependencies: ["SwitchboardCall", "SwitchboardText"]),
    .testTarget(
      name: "SwitchboardInterceptorsTests",
      dependencies: [
        "ServerTestSupport", "CallTestSupport", "SwitchboardInterceptors", "Switchboard", "EchoService",
      ]
    ),

    // Marshallers for messages of another library, where the environment asks for it; otherwise nothing. The
    // tests compile the same source over a stand-in, since nothing is fetched here.
    .target(name: "SwiftProtobufStandIn", path: "Tests/SwiftProtobufStandIn"),
    .testTarget(
      name: "SwitchboardSwiftProtobufTests",
      dependencies: [
        "ServerTestSupport",
        "SwiftProtobufStandIn", "Switchboard", "SwitchboardDescriptors", "SwitchboardGenerator",
        "SwitchboardProtoCompiler", "SwitchboardSwiftProtobuf",
      ],
      exclude: ["notes.proto", "payloads.txt"],
      swiftSettings: [.define("SwiftProtobuf")]
    ),

    // The umbrella: what users and generated services import.
    .target(
      name: "Switchboard",
      dependencies: [
        "SwitchboardBalancing", "SwitchboardCall", "SwitchboardCallObjects", "SwitchboardNetwork",
        "SwitchboardTransport",
        "SwitchboardMarshalling", "SwitchboardProtobuf",
      ]
    ),

    // Responses that tests enqueue, for generated test clients.
    .target(name: "SwitchboardTesting", dependencies: ["Switchboard", "SwitchboardCall"]),

    // What tests share: threads for those that block, processes and sockets; time that tests of calls make pass; an
    // echo service; servers and channels that end with the test; peers that speak HTTP/2 frame by frame, and loops whose
    // time is moved; and certificates.
    .target(name: "TestSupport", dependencies: ["SwitchboardCall"], path: "Tests/TestSupport"),
    .target(name: "CallTestSupport", dependencies: ["SwitchboardCall"], path: "Tests/CallTestSupport"),
    .target(
      name: "EchoTestSupport",
      dependencies: ["EchoService", "Switchboard"],
      path: "Tests/EchoTestSupport"
    ),
    .target(
      name: "HTTP2TestSupport",
      dependencies: [
        "ServerTestSupport",
        "CNghttp2", "CallTestSupport", "SwitchboardCall", "SwitchboardNetwork", "SwitchboardTransport",
        "TLSSupport", "TestSupport",
      ],
      path: "Tests/HTTP2TestSupport"
    ),
    .target(
      name: "ServerTestSupport",
      dependencies: ["CertificateSupport", "SwitchboardCall", "SwitchboardNetwork", "SwitchboardTransport"],
      path: "Tests/ServerTestSupport"
    ),
    .target(
      name: "CertificateSupport",
      dependencies: ["SwitchboardCall"],
      path: "Tests/CertificateSupport"
    ),
    .target(
      name: "TLSSupport",
      dependencies: [
        "CertificateSupport", "COpenSSL", "SwitchboardCall", "SwitchboardNetwork", "SwitchboardTransport",
      ],
      path: "Tests/TLSSupport"
    ),
    .testTarget(
      name: "SwitchboardTests",
      dependencies: [
        "ServerTestSupport",
        "Switchboard", "Echo", "EchoService", "EchoTestSupport", "CallTestSupport",
        "GoldenServicesTestClient",
        "HTTP2TestSupport", "SwitchboardNetwork", "SwitchboardTransport", "SwitchboardInterceptors",
        "SwitchboardProtobuf",
        "SwitchboardTesting", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // The example: its generated module, and the command.
    .target(
      name: "EchoService",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/EchoService"
    ),
    // The workload that peers are measured on.
    .target(
      name: "BenchService",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/BenchService"
    ),
    .executableTarget(name: "Echo", dependencies: ["Switchboard", "EchoService"]),

    // gRPC's interoperability tests.
    .target(
      name: "InteropService",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/InteropService"
    ),
    .executableTarget(
      name: "Interop",
      dependencies: [
        "InteropService", "Switchboard", "SwitchboardInterceptors", "SwitchboardServices", "SwitchboardXDS",
      ]
    ),
    .testTarget(
      name: "InteropTests",
      dependencies: [
        "HTTP2TestSupport", "Interop", "InteropService", "Switchboard", "SwitchboardServices", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // What becomes of calls when processes, networks, disks, descriptors and clocks fail. `FaultSubject` is a program
    // that has it done to itself, and whose clock can be moved: it is not linked to the tests.
    .target(
      name: "FaultSupport",
      dependencies: ["InteropService", "Switchboard"],
      path: "Tests/FaultSupport"
    ),
    .target(name: "CFaultClock", path: "Tests/CFaultClock"),
    // Lets OpenSSL use our allocator in the tests that it is linked to.
    .target(
      name: "CTLSMemoryChosen",
      dependencies: ["COpenSSL", "CTLSMemory"],
      path: "Tests/CTLSMemoryChosen"
    ),
    .target(name: "CRefusingHeap", path: "Tests/CRefusingHeap"),
    // How much of the heap a process uses, as the allocator has it.
    .target(name: "CHeap", path: "Tests/CHeap"),
    .executableTarget(
      name: "FaultSubject",
      dependencies: [
        "CFaultClock", "CRefusingHeap", "CallTestSupport", "CHeap", "COpenSSL", "CertificateSupport",
        "EchoService", "FaultSupport", "Switchboard", "SwitchboardCall", "SwitchboardInterceptors",
        "SwitchboardXDS",
      ],
      path: "Tests/FaultSubject"
    ),
    .testTarget(
      name: "FaultTests",
      dependencies: [
        "ServerTestSupport",
        "CHeap", "CLibuv", "CertificateSupport", "Echo", "EchoService", "EchoTestSupport", "FaultSupport",
        "HTTP2TestSupport",
        "Interop",
        "InteropService", "Switchboard", "SwitchboardTool", "TLSSupport", "TestSupport",
        "protoc-gen-switchboard", "switchboard-generate",
      ],
      exclude: ["Peers"]
    ),

    // Services that every server may want: health, reflection, channelz, load reports, errors with details.
    .target(
      name: "SwitchboardServiceMessages",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/SwitchboardServiceMessages"
    ),
    .target(
      name: "SwitchboardServices",
      dependencies: [
        "Switchboard", "SwitchboardDescriptors", "SwitchboardProtobuf", "SwitchboardServiceMessages",
        "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardServicesTests",
      dependencies: [
        "ServerTestSupport",
        "CallTestSupport", "CertificateSupport", "EchoService", "EchoTestSupport", "HTTP2TestSupport",
        "Switchboard",
        "SwitchboardCall",
        "SwitchboardNetwork", "SwitchboardTransport", "SwitchboardServices", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // Metrics, traces, logs and context: a product of its own.
    .target(name: "CTicks"),
    .target(
      name: "OTLPMessages",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/OTLPMessages"
    ),
    .target(
      name: "SwitchboardTelemetry",
      dependencies: [
        "CTicks", "OTLPMessages", "Switchboard", "SwitchboardBalancing", "SwitchboardCall",
        "SwitchboardNetwork", "SwitchboardTransport", "SwitchboardProtobuf", "SwitchboardSchema",
        "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardTelemetryTests",
      dependencies: [
        "ServerTestSupport",
        "CallTestSupport", "CertificateSupport", "EchoService", "EchoTestSupport", "HTTP2TestSupport",
        "OTLPMessages",
        "Switchboard", "SwitchboardBalancing", "SwitchboardCall", "SwitchboardNetwork",
        "SwitchboardTransport",
        "SwitchboardInterceptors", "SwitchboardProtobuf", "SwitchboardSchema", "SwitchboardTelemetry",
        "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // Calls of methods whose messages are known only at run time: by descriptors of a server's, or of files. No product: the
    // console and the command use it.
    .target(
      name: "SwitchboardDynamic",
      dependencies: [
        "Switchboard", "SwitchboardDescriptors", "SwitchboardProtobuf", "SwitchboardServices",
        "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardDynamicTests",
      dependencies: [
        "KindsService", "Switchboard", "SwitchboardDescriptors", "SwitchboardDynamic",
        "SwitchboardProtobuf", "SwitchboardServices",
      ]
    ),

    // A page that shows what servers and channels do: a product of its own.
    .target(
      name: "ConsoleMessages",
      dependencies: ["SwitchboardProtobuf"],
      path: "Generated/ConsoleMessages"
    ),
    .target(name: "ConsolePage", path: "Generated/ConsolePage"),
    .target(
      name: "SwitchboardConsole",
      dependencies: [
        "ConsoleMessages", "ConsolePage", "Switchboard", "SwitchboardBalancing", "SwitchboardCall",
        "SwitchboardDescriptors", "SwitchboardDynamic", "SwitchboardNetwork", "SwitchboardProtobuf",
        "SwitchboardSchema", "SwitchboardServices", "SwitchboardTelemetry", "SwitchboardText",
        "SwitchboardTransport",
      ]
    ),
    .testTarget(
      name: "SwitchboardConsoleTests",
      dependencies: [
        "CallTestSupport", "CertificateSupport", "ConsoleMessages", "EchoService", "EchoTestSupport",
        "HTTP2TestSupport", "KindsService",
        "ServerTestSupport", "Switchboard", "SwitchboardBalancing", "SwitchboardCall", "SwitchboardConsole",
        "SwitchboardDescriptors", "SwitchboardDynamic", "SwitchboardNetwork",
        "SwitchboardProtobuf", "SwitchboardServices", "SwitchboardTelemetry", "SwitchboardTransport",
        "TestMessages", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // What control planes send and ask, and channels that they configure: `xds:` targets.
    .target(
      name: "XDSMessages",
      dependencies: ["Switchboard", "SwitchboardProtobuf", "SwitchboardServiceMessages"],
      path: "Generated/XDSMessages"
    ),
    .target(
      name: "SwitchboardXDS",
      dependencies: [
        "Switchboard", "SwitchboardBalancing", "SwitchboardCall", "SwitchboardNetwork",
        "SwitchboardPatterns", "SwitchboardProtobuf", "SwitchboardSchema", "SwitchboardServiceMessages",
        "SwitchboardText", "SwitchboardTransport", "XDSMessages",
      ]
    ),
    .testTarget(
      name: "SwitchboardXDSTests",
      dependencies: [
        "CHeap", "CallTestSupport", "CertificateSupport", "Echo", "EchoService", "EchoTestSupport",
        "Interop",
        "InteropService", "ServerTestSupport", "Switchboard", "SwitchboardBalancing", "SwitchboardCall",
        "SwitchboardDescriptors", "SwitchboardPatterns", "SwitchboardProtobuf", "SwitchboardServices",
        "SwitchboardTelemetry", "SwitchboardTool", "SwitchboardTransport", "SwitchboardXDS", "TestSupport",
        "XDSMessages",
      ],
      exclude: ["Peers"]
    ),

    // Presses on a server and measures: `switchboard load`.
    .target(
      name: "LoadMessages",
      dependencies: ["Switchboard", "SwitchboardProtobuf"],
      path: "Generated/LoadMessages"
    ),
    .target(
      name: "SwitchboardLoad",
      dependencies: [
        "LoadMessages", "Switchboard", "SwitchboardCall", "SwitchboardDescriptors", "SwitchboardDynamic",
        "SwitchboardNetwork", "SwitchboardProtobuf", "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardLoadTests",
      dependencies: [
        "ServerTestSupport",
        "CallTestSupport", "EchoService", "EchoTestSupport", "LoadMessages", "Switchboard",
        "SwitchboardDescriptors", "SwitchboardLoad", "SwitchboardProtobuf", "SwitchboardTool", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // REST by the rules of google/api/http.proto, and OpenAPI documents of them.
    .target(
      name: "GoogleAPIMessages",
      dependencies: ["SwitchboardDescriptors", "SwitchboardProtobuf"],
      path: "Generated/GoogleAPIMessages"
    ),
    // The rules' text, which the generator reads too: without messages, as every user's first build compiles it.
    .target(name: "SwitchboardHTTPRules", dependencies: ["SwitchboardText"]),
    .target(
      name: "SwitchboardOpenAPI",
      dependencies: [
        "GoogleAPIMessages", "SwitchboardDescriptors", "SwitchboardHTTPRules", "SwitchboardProtobuf",
        "SwitchboardText",
      ]
    ),
    .target(
      name: "SwitchboardREST",
      dependencies: [
        "GoogleAPIMessages", "Switchboard", "SwitchboardDescriptors", "SwitchboardHTTPRules",
        "SwitchboardOpenAPI", "SwitchboardProtobuf", "SwitchboardServiceMessages", "SwitchboardText",
      ]
    ),
    .target(
      name: "RESTService",
      dependencies: ["GoogleAPIMessages", "Switchboard", "SwitchboardProtobuf"],
      path: "Generated/RESTService"
    ),
    .testTarget(
      name: "SwitchboardRESTTests",
      dependencies: [
        "ServerTestSupport",
        "CallTestSupport", "CertificateSupport", "HTTP2TestSupport", "protoc-gen-switchboard",
        "GoogleAPIMessages", "RESTService", "Switchboard", "SwitchboardDescriptors", "SwitchboardHTTPRules",
        "SwitchboardOpenAPI", "SwitchboardProtobuf", "SwitchboardREST", "SwitchboardServices",
        "SwitchboardTelemetry", "TestSupport",
      ],
      exclude: ["Peers"]
    ),

    // Stands in for a server: `switchboard mock`.
    .target(
      name: "SwitchboardMock",
      dependencies: [
        "Switchboard", "SwitchboardDescriptors", "SwitchboardDynamic", "SwitchboardProtobuf",
        "SwitchboardServices",
        "SwitchboardText",
      ]
    ),
    .testTarget(
      name: "SwitchboardMockTests",
      dependencies: [
        "ServerTestSupport",
        "CallTestSupport", "EchoService", "Switchboard", "SwitchboardDescriptors", "SwitchboardMock",
        "SwitchboardProtobuf", "SwitchboardServices", "TestSupport",
      ]
    ),

    // Moves packages from grpc-swift: `switchboard migrate`. Reads and writes no files.
    .target(name: "SwitchboardMigration"),
    .testTarget(name: "SwitchboardMigrationTests", dependencies: ["SwitchboardMigration"]),

    // The .proto compiler: C++ inside, one C function outside, and its face in Swift.
    .target(
      name: "CProtoc",
      sources: ["Whole.cc"],
      linkerSettings: [.linkedLibrary("protoc"), .linkedLibrary("protobuf")]
    ),
    .target(name: "SwitchboardProtoCompiler", dependencies: ["CProtoc"]),
    .testTarget(
      name: "SwitchboardProtoCompilerTests",
      dependencies: [
        "SwitchboardDescriptors", "SwitchboardProtoCompiler", "SwitchboardProtobuf", "TestSupport",
      ],
      exclude: ["keep.sh"]
    ),

    // What the command-line tools share: files, streams and messages to the user.
    .target(name: "SwitchboardToolSupport"),
    .testTarget(name: "SwitchboardToolSupportTests", dependencies: ["SwitchboardToolSupport"]),

    // Generating code, as a program of its own: every user's build compiles it, so it has nothing else. The arguments are
    // a module of their own, so that they are compiled at the same time as the generator, which takes longest.
    .target(name: "SwitchboardGenerateArguments", dependencies: ["SwitchboardToolSupport"]),
    .target(
      name: "SwitchboardGenerateVerb",
      dependencies: [
        "SwitchboardGenerateArguments", "SwitchboardGenerator", "SwitchboardProtoCompiler",
        "SwitchboardSchema", "SwitchboardToolSupport",
      ]
    ),
    .executableTarget(
      name: "switchboard-generate",
      dependencies: ["SwitchboardGenerateVerb", "SwitchboardToolSupport"]
    ),

    // The command `switchboard`: all verbs, and the program that is nothing but them. The program's target has another
    // name, since the umbrella module's differs from the command's in case alone, which some file systems do not tell
    // apart.
    .target(
      name: "SwitchboardCommand",
      dependencies: [
        "LoadMessages", "Switchboard", "SwitchboardBalancing", "SwitchboardConsole", "SwitchboardDescriptors",
        "SwitchboardDynamic", "SwitchboardGenerateArguments", "SwitchboardGenerateVerb", "SwitchboardLoad",
        "SwitchboardMigration", "SwitchboardMock", "SwitchboardOpenAPI",
        "SwitchboardProtoCompiler", "SwitchboardProtobuf", "SwitchboardSchema", "SwitchboardServices",
        "SwitchboardText", "SwitchboardToolSupport", "XDSMessages",
      ]
    ),
    .executableTarget(
      name: "SwitchboardTool",
      dependencies: ["SwitchboardCommand", "SwitchboardToolSupport"]
    ),
    .executableTarget(
      name: "protoc-gen-switchboard",
      dependencies: [
        "SwitchboardDescriptors", "SwitchboardGenerator", "SwitchboardOpenAPI", "SwitchboardProtobuf",
        "SwitchboardSchema", "SwitchboardToolSupport",
      ]
    ),
    .testTarget(
      name: "SwitchboardToolTests",
      dependencies: [
        "SwitchboardGenerateArguments", "SwitchboardTool", "protoc-gen-switchboard", "switchboard-generate",
        "TestSupport",
      ]
    ),

    .testTarget(
      name: "SwitchboardCommandTests",
      dependencies: [
        "ServerTestSupport",
        "CertificateSupport", "EchoService", "EchoTestSupport", "Switchboard", "SwitchboardCommand",
        "SwitchboardDescriptors", "SwitchboardDynamic",
        "SwitchboardGenerateVerb", "SwitchboardProtoCompiler", "SwitchboardProtobuf", "SwitchboardServices",
        "SwitchboardTool", "TestSupport", "XDSMessages",
      ],
      exclude: ["Migrated", "Peers", "Protos"]
    ),

    // Generating as a part of a build, and as a verb of the package manager.
    .plugin(name: "SwitchboardPlugin", capability: .buildTool(), dependencies: ["switchboard-generate"]),
    .plugin(
      name: "SwitchboardCommandPlugin",
      capability: .command(
        intent: .custom(
          verb: "switchboard-generate",
          description: "Generate Swift from the .proto files of targets that have a switchboard.json."
        ),
        permissions: [
          .writeToPackageDirectory(reason: "Writes generated files next to the target's sources.")
        ]
      ),
      dependencies: ["switchboard-generate"]
    ),

    // The plugins cannot be imported: the test compiles what both share, but for the part that the
    // package manager calls.
    .testTarget(name: "PluginTests", exclude: ["Shared/Generation+Plugin.swift"]),

    // Comparisons with other implementations: `make bench`; and `make soak`.
    .systemLibrary(name: "CAllocator", path: "Benchmarks/CAllocator"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "BenchService", "CAllocator", "CodecMessages", "Switchboard", "SwitchboardBalancing",
        "SwitchboardCall", "SwitchboardConsole",
        "SwitchboardProtobuf", "SwitchboardTelemetry", "SwitchboardXDS", "TLSSupport",
      ],
      path: "Benchmarks/Sources"
    ),

    .executableTarget(
      name: "BenchRESTServer",
      dependencies: ["EchoService", "Switchboard", "SwitchboardOpenAPI", "SwitchboardREST"],
      path: "Benchmarks/REST"
    ),

    // What a thread allocates and copies, for tests of what work costs. It replaces the allocator of what it is linked to.
    .target(name: "CCosts", path: "Tests/CCosts"),

    // libprotobuf as the reference that tests compare with; no product depends on it.
    .target(
      name: "CReference",
      path: "Tests/CReference",
      linkerSettings: [.linkedLibrary("protoc"), .linkedLibrary("protobuf")]
    ),
    .target(
      name: "ReferenceSupport",
      dependencies: ["CReference", "SwitchboardProtoCompiler"],
      path: "Tests/ReferenceSupport"
    ),
    .testTarget(name: "ReferenceSupportTests", dependencies: ["ReferenceSupport"]),
  ],
  // The language of C++ is not named: the toolchain takes 17 by itself, and gives its symbol graphs of C a name of C++ to read.
  swiftLanguageModes: [.v6]
)

package.targets += goldens + [fuzzing, states] + bridgeTargets

for target in package.targets {
  let names = target.dependencies.compactMap { dependency -> String? in
    if case .byNameItem(let name, _) = dependency { name } else { nil }
  }
  guard names.contains("Switchboard") else { continue }
  target.dependencies += exported.filter { !names.contains($0) }.map { .byName(name: $0) }
}

for (group, modules) in groups {
  for target in package.targets where modules.contains(target.name) {
    target.path = "Sources/\(group)/\(target.name)"
  }
}
