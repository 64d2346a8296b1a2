// Browsers start no worker from a file on a disk. There, search runs in a hidden frame instead, which loads the same script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.frame.addEventListener("load", () => this.begin(new URL(address, location.href).href), { once: true });
      document.body.append(this.frame);
    }

    begin(address) {
      const inside = this.frame.contentWindow;
      inside.importScripts = async (...addresses) => {
        for (const one of addresses) {
          await this.script(new URL(one, address).href);
        }
      };
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      this.script(address).then(() => {
        this.ready = inside;
        this.waiting.splice(0).forEach((data) => {
          this.postMessage(data);
        });
      });
    }

    script(address) {
      const page = this.frame.contentDocument;
      return new Promise((go, fail) => {
        const script = Object.assign(page.createElement("script"), { src: address, onload: go, onerror: fail });
        page.head.append(script);
      });
    }

    postMessage(data) {
      if (this.ready) {
        this.ready.dispatchEvent(new MessageEvent("message", { data }));
      } else {
        this.waiting.push(data);
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}
