/// The page: lists, adds and watches books, by REST or by Connect.
enum Page {
  static let html = """
    <!DOCTYPE html>
    <html lang="en">
    <meta charset="utf-8">
    <title>Bookstore</title>
    <h1>Books</h1>
    <p>
      <label><input type="radio" name="protocol" value="rest" checked> REST</label>
      <label><input type="radio" name="protocol" value="connect"> Connect</label>
    </p>
    <form>
      <input name="title" placeholder="Title" required>
      <input name="author" placeholder="Author">
      <button>Add</button>
    </form>
    <ul></ul>
    <p id="error"></p>
    <script type="module">
      \(script)
    </script>
    </html>
    """

  private static let script = """
    const json = { 'content-type': 'application/json' };
    const failed = async (answer) => new Error((await answer.json()).message ?? answer.statusText);

    const rest = {
      async list() {
        const answer = await fetch('/v1/books');
        if (!answer.ok) throw await failed(answer);
        return (await answer.json()).books ?? [];
      },
      async add(book) {
        const answer = await fetch('/v1/books', { method: 'POST', headers: json, body: JSON.stringify(book) });
        if (!answer.ok) throw await failed(answer);
        return answer.json();
      },
      // Returns what ends it. A connection that is lost is made again, and `listening` is called again.
      watch(take, listening) {
        const events = new EventSource('/v1/books:watch');
        events.onopen = listening;
        events.onerror = () => show(new Error('The server cannot be reached.'));
        events.onmessage = (event) => take(JSON.parse(event.data));
        return () => events.close();
      },
    };

    const connect = {
      async call(method, message) {
        const headers = { ...json, 'connect-protocol-version': '1' };
        const answer = await fetch('/bookstore.Books/' + method, { method: 'POST', headers, body: JSON.stringify(message) });
        if (!answer.ok) throw await failed(answer);
        return answer.json();
      },
      async list() { return (await connect.call('ListBooks', {})).books ?? []; },
      add(book) { return connect.call('AddBook', { book }); },
      watch(take, listening) {
        const stop = new AbortController();
        connect.read(take, listening, stop.signal).catch((error) => { if (!stop.signal.aborted) show(error); });
        return () => stop.abort();
      },
      // A stream of Connect is messages with a byte of flags and four of length in front; the last has flag 2.
      async read(take, listening, signal) {
        const headers = { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' };
        const request = new Uint8Array([0, 0, 0, 0, 2, 123, 125]);
        const answer = await fetch('/bookstore.Books/WatchBooks', { method: 'POST', headers, body: request, signal });
        if (!answer.ok) throw await failed(answer);
        listening();
        let bytes = new Uint8Array();
        for (const reader = answer.body.getReader(); ;) {
          const { value, done } = await reader.read();
          if (done) return;
          bytes = new Uint8Array([...bytes, ...value]);
          while (bytes.length >= 5) {
            const end = 5 + new DataView(bytes.buffer).getUint32(1);
            if (bytes.length < end) break;
            const message = JSON.parse(new TextDecoder().decode(bytes.subarray(5, end)));
            if (bytes[0] & 2) { if (message.error) throw new Error(message.error.message); } else take(message);
            bytes = bytes.slice(end);
          }
        }
      },
    };

    const list = document.querySelector('ul');
    const form = document.querySelector('form');
    const show = (error) => { document.querySelector('#error').textContent = error?.message ?? ''; };
    const chosen = () => ({ rest, connect })[document.querySelector('[name=protocol]:checked').value];
    const seen = new Set();

    function take(book) {
      if (seen.has(book.name)) return;
      seen.add(book.name);
      const item = document.createElement('li');
      item.textContent = book.author ? `${book.title}, ${book.author}` : book.title;
      list.append(item);
    }

    let stop = () => {};
    function start() {
      stop();
      list.replaceChildren();
      seen.clear();
      const protocol = chosen();
      // Listed when the server sends what comes, so that no book falls between the two.
      stop = protocol.watch(take, async () => {
        try { (await protocol.list()).forEach(take); show(); } catch (error) { show(error); }
      });
    }

    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const book = { title: form.title.value, author: form.author.value };
      try { await chosen().add(book); form.reset(); show(); } catch (error) { show(error); }
    });
    document.querySelectorAll('[name=protocol]').forEach((choice) => choice.addEventListener('change', start));
    // http://127.0.0.1:8080/#connect begins with Connect.
    const wanted = document.querySelector(`[value="${location.hash.slice(1)}"]`);
    if (wanted) wanted.checked = true;
    start();
    """
}
