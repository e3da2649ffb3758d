/// What runs the server in a container.
extension PackageFiles {
  /// The name of images and of what is deployed, which has no capitals and no underscores.
  private var image: String {
    name.proto.split(separator: "_").joined(separator: "-")
  }

  /// The target of the `Makefile`. A dependency that is a directory is no part of the context, and given apart.
  var imageTarget: String {
    let context = dependency.path.map { " --build-context switchboard=\(ShellText.quoted($0))" } ?? ""
    return "\n\nimage:\n\tdocker build\(context) --tag \(image) ."
  }

  /// What puts the dependency where the manifest in the container expects it.
  private var copiedDependency: String {
    guard dependency.path != nil else { return "" }
    // One by one, because what is not named is not sent: the folder may have builds.
    let folders = ["Benchmarks", "Fuzz", "Generated", "Plugins", "Sources", "Tests"].map {
      "COPY --from=switchboard \($0) /switchboard/\($0)"
    }
    return """
      COPY --from=switchboard Package.swift /switchboard/
      \(folders.joined(separator: "\n"))
      RUN sed -i -E 's|^( *\\.package\\(name: "switchboard", path: ").*"\\)|\\1/switchboard")|' Package.swift

      """
  }

  var dockerfile: String {
    """
    # syntax=docker/dockerfile:1
    # Builds the program in one image, and copies it into another that has no compiler: 'make image'.
    #
    # No container was built when this file was made. The names of images and packages are those of Debian 12; see which
    # your registry has.
    FROM swift:6.3-bookworm AS build
    RUN apt-get update && apt-get install -y --no-install-recommends \\
        libnghttp2-dev libssl-dev libuv1-dev zlib1g-dev libzstd-dev libbrotli-dev libc-ares-dev \\
        libprotobuf-dev libprotoc-dev protobuf-compiler pkg-config \\
      && rm -rf /var/lib/apt/lists/*
    WORKDIR /package
    COPY . .
    \(copiedDependency)# Swift's own libraries become part of the program. The C libraries are those of the image, which get its updates.
    RUN swift build -c release --product \(name.type) --static-swift-stdlib \\
      && cp "$(swift build -c release --show-bin-path)/\(name.type)" /program

    FROM debian:bookworm-slim
    RUN apt-get update && apt-get install -y --no-install-recommends \\
        ca-certificates libnghttp2-14 libssl3 libuv1 zlib1g libzstd1 libbrotli1 libc-ares2 \\
      && rm -rf /var/lib/apt/lists/* \\
      && useradd --system --uid 10001 --no-create-home app
    COPY --from=build /program /usr/local/bin/\(image)
    USER 10001
    EXPOSE 50051
    # The key of callers comes from outside, as API_KEY: docker run -e API_KEY ...
    HEALTHCHECK --interval=10s --timeout=3s CMD ["\(image)", "probe"]
    ENTRYPOINT ["\(image)"]
    CMD ["serve", "50051", "0.0.0.0"]

    """
  }

  var kubernetes: String {
    """
    # No cluster has read this file when it was made: try it with 'kubectl apply --dry-run=server -f kubernetes.yaml'.
    # The key of callers is in a secret: kubectl create secret generic \(image) --from-literal=api-key=...
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: \(image)
    spec:
      replicas: 2
      selector:
        matchLabels: {app: \(image)}
      template:
        metadata:
          labels: {app: \(image)}
        spec:
          # More than the time that the program lets calls finish in.
          terminationGracePeriodSeconds: 30
          containers:
            - name: \(image)
              image: \(image)
              ports:
                - containerPort: 50051
              env:
                - name: API_KEY
                  valueFrom:
                    secretKeyRef: {name: \(image), key: api-key}
                # Telemetry is off without it.
                # - {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4317"}
              # Alive: the server answers. Ready: it takes calls of the service, until it shuts down.
              livenessProbe:
                grpc: {port: 50051}
                periodSeconds: 10
              readinessProbe:
                grpc: {port: 50051, service: \(service)}
                periodSeconds: 5
              securityContext:
                runAsNonRoot: true
                runAsUser: 10001
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities: {drop: [ALL]}
    ---
    apiVersion: v1
    kind: Service
    metadata:
      name: \(image)
    spec:
      # Without an address of its own, so that clients see each server and balance their calls: dns:///\(image):50051
      clusterIP: None
      selector: {app: \(image)}
      ports:
        - port: 50051

    """
  }

  var productionParts: String {
    """

    - `Sources/\(library)/Backend.swift` is all that is served: the service, health and reflection, and their options
    - `Sources/\(library)/KeyGuard.swift` lets callers pass that have the key, and `Tests` tries it
    - `Dockerfile` and `kubernetes.yaml` run it in containers, with probes; neither was run when it was made
    """
  }

  var runningInProduction: String {
    """
    `make run` starts the server and calls it. To have them apart:

    ```
    export API_KEY=secret
    swift run \(name.type) serve 50051
    swift run \(name.type) call 127.0.0.1:50051 Ada
    ```

    The command asks it, too:

    ```
    switchboard health localhost:50051 \(service)
    printf 'authorization: Bearer %s\\n' "$API_KEY" > headers.txt
    switchboard call localhost:50051 \(service)/Greet -d '{"name": "Ada"}' -H @headers.txt
    ```

    The connection is not encrypted: in a network that others use, give the server certificates (`ServerOptions.tls`), or
    put it behind a proxy that has them. On Ctrl-C and SIGTERM, health says that the service takes no more calls, and those
    in progress have 20 seconds to finish. Telemetry is on if a variable of OpenTelemetry is set, such as
    `OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317`. `make image` builds a container.
    """
  }
}

/// Words of a shell's command line.
enum ShellText {
  /// A word as it is. In a `Makefile`, a dollar sign is written twice.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-".utf8.contains(byte)
      }
    }
    guard !isPlain else { return text }
    let parts = text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
    return "'\(parts.split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$"))'"
  }
}
