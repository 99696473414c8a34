/** Joins the runs of a text with formats, as a shared string or a cell has it. */
export class TextOf {
  private runs = ""
  private isText = false
  private isPhonetic = false

  start(): void {
    this.runs = ""
    this.isText = false
    this.isPhonetic = false
  }

  open(name: string): void {
    // How the text is pronounced, in Japanese workbooks.
    if (name === "rPh") this.isPhonetic = true
    else if (name === "t") this.isText = !this.isPhonetic
  }

  close(name: string): void {
    if (name === "rPh") this.isPhonetic = false
    else if (name === "t") this.isText = false
  }

  text(text: string): void {
    if (this.isText) this.runs += text
  }

  end(): string {
    this.isText = false
    return unescape(this.runs)
  }
}

/** Decodes `_x000D_`, which stands for a character that XML can't hold. */
export const unescape = (text: string): string =>
  text.includes("_x") ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))) : text
