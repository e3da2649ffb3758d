/// Compiles `.proto` files with libprotoc, inside this process.
public struct ProtoCompiler: Sendable {
  /// The directories in which imports and file names are looked up; the first match wins.
  public var includeDirectories: [String]

  /// Whether the request has positions in the sources only of what has a comment before or after it, and of the options of
  /// methods. They are one of eight, and those that generators use.
  public var keepsOnlyComments = false

  /// The number of threads to use at most; nil means one a processor. The result does not depend on it.
  public var workers: Int?

  /// A compiler that looks files up in `includeDirectories`.
  public init(includeDirectories: [String]) {
    self.includeDirectories = includeDirectories
  }

  /// Compiles `files` and everything that they import.
  ///
  /// - Parameters:
  ///   - files: Paths below an include directory, or names relative to one.
  ///   - parameter: The parameter of the request, for the generator; `nil` leaves it unset.
  /// - Returns: The request for a generator, and warnings.
  /// - Throws: All errors in the files, not only the first one.
  public func compile(_ files: [String], parameter: String? = nil) throws(ProtoErrors) -> CompiledProtos {
    let outcome = runCompiler(self, files: files, parameter: parameter)
    guard let request = outcome.request else {
      throw ProtoErrors(errors: outcome.errors.map(TypeHint.explaining), warnings: outcome.warnings)
    }
    return CompiledProtos(request: request, warnings: outcome.warnings)
  }
}

/// The result of compiling `.proto` files.
public struct CompiledProtos: Sendable, Hashable {
  /// A serialized `google.protobuf.compiler.CodeGeneratorRequest`: every file after its imports, with JSON names and
  /// the positions of declarations and comments.
  public var request: [UInt8]

  /// The warnings of libprotoc, in the form of ``ProtoErrors/errors``, with `warning: ` instead of `error: `.
  public var warnings: [String]
}

/// Why `.proto` files do not compile.
public struct ProtoErrors: Error, Sendable, Hashable {
  /// One line each: `path:line:column: error: message`, counted from 1, or `path: error: message` if it concerns the
  /// whole file. The path is the one that the file was given by, or found at. A type that is not defined may have a hint.
  public var errors: [String]

  /// The warnings of libprotoc in the same form, with `warning: ` instead of `error: `.
  public var warnings: [String]
}
