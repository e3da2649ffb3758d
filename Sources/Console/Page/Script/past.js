// Requests that were made before. They are kept by the tab, so that they are gone when it is closed.
const past = {
  most: 30,
  longest: 64 * 1024,
  key: `switchboard-past ${prefix}`,
  // Names of metadata whose values say who somebody is: these are never kept.
  secrets: /authorization|cookie|token|secret|password|credential|api-?key/i,

  get entries() {
    try { return JSON.parse(sessionStorage.getItem(this.key)) ?? []; } catch { return []; }
  },

  add(entry) {
    const kept = { ...entry, headers: entry.headers.map(({ name, value }) => ({ name, value: this.secrets.test(name) ? "" : value })) };
    const text = JSON.stringify(kept);
    if (text.length > this.longest) return;
    const others = this.entries.filter((each) => JSON.stringify({ ...each, time: 0 }) !== JSON.stringify({ ...kept, time: 0 }));
    this.store([kept, ...others].slice(0, this.most));
  },

  store(entries) {
    try { sessionStorage.setItem(this.key, JSON.stringify(entries)); } catch { sessionStorage.removeItem(this.key); }
  },

  clear() { sessionStorage.removeItem(this.key); },
};
