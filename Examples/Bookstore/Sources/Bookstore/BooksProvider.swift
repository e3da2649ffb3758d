import Switchboard

/// The service, as any client sees it: by gRPC, Connect or REST.
struct BooksProvider: Bookstore_BooksProvider {
  let shelf = Shelf()
  var interceptors: Interceptors? { nil }

  func listBooks(
    request: Bookstore_ListBooksRequest,
    context: ServerCallContext
  ) async throws -> Bookstore_ListBooksResponse {
    let books = await shelf.books
    return .with { $0.books = books.filter { request.author.isEmpty || $0.author == request.author } }
  }

  func getBook(request: Bookstore_GetBookRequest, context: ServerCallContext) async throws -> Bookstore_Book {
    guard let book = await shelf.books.first(where: { $0.name == request.name }) else {
      throw GRPCStatus(code: .notFound, message: "there is no book \(request.name)")
    }
    return book
  }

  func addBook(request: Bookstore_AddBookRequest, context: ServerCallContext) async throws -> Bookstore_Book {
    guard !request.book.title.isEmpty else {
      throw GRPCStatus(code: .invalidArgument, message: "a book needs a title")
    }
    return try await shelf.add(request.book)
  }

  func watchBooks(
    request: Bookstore_WatchBooksRequest,
    responseStream: ResponseStreamWriter<Bookstore_Book>,
    context: ServerCallContext
  ) async throws {
    let arrivals = await shelf.arrivals()
    // The client learns that it misses nothing from now on.
    context.sendInitialMetadata()
    for await book in arrivals { try await responseStream.send(book) }
  }
}

/// The books, and who waits for new ones.
actor Shelf {
  private(set) var books: [Bookstore_Book] = []
  private var watchers: [Int: AsyncStream<Bookstore_Book>.Continuation] = [:]
  private var lastWatcher = 0

  func add(_ book: Bookstore_Book) throws -> Bookstore_Book {
    guard books.count < 1000 else { throw GRPCStatus(code: .resourceExhausted, message: "the shelf is full") }
    var book = book
    book.name = "books/\(books.count + 1)"
    books.append(book)
    for watcher in watchers.values { watcher.yield(book) }
    return book
  }

  /// The books that come from now on. A watcher that does not keep up misses the oldest.
  func arrivals() -> AsyncStream<Bookstore_Book> {
    let (stream, watcher) = AsyncStream.makeStream(
      of: Bookstore_Book.self,
      bufferingPolicy: .bufferingNewest(100)
    )
    lastWatcher += 1
    let number = lastWatcher
    watchers[number] = watcher
    watcher.onTermination = { _ in Task { await self.forget(number) } }
    return stream
  }

  private func forget(_ number: Int) { watchers[number] = nil }
}
