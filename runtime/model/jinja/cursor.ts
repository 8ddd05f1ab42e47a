/** Reads the tokens of a template one by one. */
import { lineOf, type Token, tokensOf } from "./lexer.ts"
import { TemplateError } from "./value.ts"

export class Cursor {
  protected readonly tokens: readonly Token[]
  private readonly source: string
  protected at = 0

  constructor(source: string) {
    this.source = source
    this.tokens = tokensOf(source)
  }

  protected get token(): Token {
    return this.tokens[this.at]
  }

  protected fail(message: string): never {
    throw new TemplateError(`line ${lineOf(this.source.replace(/\r\n?/g, "\n"), this.token.at)}: ${message}`)
  }

  protected isOperator(...texts: string[]): boolean {
    return this.token.kind === "operator" && texts.includes(this.token.text)
  }

  protected isName(...names: string[]): boolean {
    return this.token.kind === "name" && names.includes(this.token.text)
  }

  /** Consumes the next token if it is this operator or word. Returns whether it was. */
  protected skip(text: string): boolean {
    const isIt = this.isOperator(text) || this.isName(text)
    if (isIt) this.at++
    return isIt
  }

  protected expect(text: string): void {
    if (!this.skip(text)) this.fail(`${text} is expected, not ${this.token.text}`)
  }

  protected name(): string {
    const { kind, text } = this.token
    if (kind !== "name") this.fail(`a name is expected, not ${text}`)
    this.at++
    return text
  }

  protected closeTag(): void {
    if (this.token.kind !== "%}") this.fail(`%} is expected, not ${this.token.text}`)
    this.at++
  }

  protected take(): string {
    return this.tokens[this.at++].text
  }
}
