/// Compiles `.proto` files through libprotoc, inside this process.
public struct ProtoCompiler: Sendable {
  /// The roots that imports and file names are looked up in, the first match winning.
  public var includeDirectories: [String]

  /// A compiler that looks files up in `includeDirectories`.
  public init(includeDirectories: [String]) {
    self.includeDirectories = includeDirectories
  }

  /// Compiles `files` and everything that they import.
  ///
  /// - Parameters:
  ///   - files: Paths that lie under an include directory, or names relative to one.
  ///   - parameter: What the request hands on to the generator; `nil` leaves it unset.
  /// - Returns: What a generator wants to know of the files.
  /// - Throws: All that is wrong with the files, rather than the first such thing.
  public func compile(_ files: [String], parameter: String? = nil) throws(ProtoErrors) -> CompiledProtos {
    let outcome = runCompiler(includeDirectories: includeDirectories, files: files, parameter: parameter)
    guard let request = outcome.request else {
      throw ProtoErrors(errors: outcome.errors, warnings: outcome.warnings)
    }
    return CompiledProtos(request: request, warnings: outcome.warnings)
  }
}

/// What compiling `.proto` files gave.
public struct CompiledProtos: Sendable, Hashable {
  /// A serialized `google.protobuf.compiler.CodeGeneratorRequest`: every file after those that it
  /// imports, with JSON names and comments.
  public var request: [UInt8]

  /// What libprotoc finds questionable, in the form of ``ProtoErrors/errors``, with `warning: ` for `error: `.
  public var warnings: [String]
}

/// Why `.proto` files do not compile.
public struct ProtoErrors: Error, Sendable, Hashable {
  /// One line each: `path:line:column: error: message`, counted from 1, or `path: error: message` where it
  /// concerns a file as a whole. The path is the one that the file was given by, or found at.
  public var errors: [String]

  /// What else libprotoc finds questionable, in the same form, with `warning: ` for `error: `.
  public var warnings: [String]
}
