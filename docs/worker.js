// Browsers start no worker from a folder; there search runs in a hidden frame instead.
if (location.protocol === "file:") window.Worker = class {
  constructor(address) {
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.frame.title = "search";
    document.body.append(this.frame);
    this.inner = this.frame.contentWindow;
    this.inner.postMessage = sent => {
      const data = structuredClone(sent);
      setTimeout(() => this.onmessage?.({ data }));
    };
    const script = this.inner.document.createElement("script");
    script.src = address;
    this.ready = new Promise((resolve, reject) => { script.onload = resolve; script.onerror = reject; });
    this.ready.catch(error => this.onerror?.(error));
    this.inner.document.head.append(script);
  }
  // A worker gets a copy: search changes what it is given, which would empty the box being typed in.
  postMessage(sent) {
    const data = structuredClone(sent);
    this.ready.then(() => this.inner.onmessage({ data }), () => {});
  }
  terminate() { this.frame.remove(); }
};
